#!lua flags=allow-oom
-- Removes old entries of a kind, oldest first.
--
-- KEYS     root of the ledger
-- ARGV     clock, kind, olderThanMs, how many, how many to look at, how many old ones to pass over
-- returns  { removed, looked at }
-- include: clock header ledger
local kind, older_than_ms, limit = arg(), number_arg(), number_arg()
local look, offset = number_arg(), number_arg()
local old = redis.call('ZRANGE', root .. 'ei', '-inf', text_of(now - older_than_ms), 'BYSCORE',
  'LIMIT', offset, look)
local removed = 0
for _, member in ipairs(old) do
  if removed >= limit then break end
  local id = id_of(member)
  local e = unpack_entry(redis.call('HGET', root .. 'eb', id))
  if cjson.decode(e.rest).kind == kind then
    redis.call('HDEL', root .. 'eb', id)
    redis.call('ZREM', root .. 'ei', member)
    removed = removed + 1
  end
end
save_clock()
return { removed, #old }
