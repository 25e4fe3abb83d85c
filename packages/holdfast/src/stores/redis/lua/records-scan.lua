#!lua flags=no-writes
-- The records that start with a prefix, by key.
--
-- KEYS     root of the records
-- ARGV     clock, where to begin (a bound of ZRANGEBYLEX), prefix, how many
-- returns  { is there more 0|1, key, record, … }
-- include: clock record
local from, prefix, limit = arg(), arg(), number_arg()
local CHUNK = 100
local reply, found = { 0 }, 0
while true do
  local keys = redis.call('ZRANGEBYLEX', root .. 'ri', from, '+', 'LIMIT', 0, CHUNK)
  if #keys == 0 then return reply end
  for _, key in ipairs(keys) do
    if string.sub(key, 1, #prefix) ~= prefix then return reply end
    local packed = read_record(key)
    if packed then
      if found >= limit then
        reply[1] = 1
        return reply
      end
      reply[#reply + 1] = key
      reply[#reply + 1] = packed
      found = found + 1
    end
    from = '(' .. key
  end
end
