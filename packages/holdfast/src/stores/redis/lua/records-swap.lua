#!lua
-- Compare and set. In order, so a later item of the call sees what an earlier one wrote. One number
-- for all records is enough to make the version of each grow across deletion and re-creation.
--
-- KEYS     root of the records
-- ARGV     clock; swaps: key, expected version or "", has value 0|1, value, ttlMs or ""
-- returns  per swap: 1 and the version as text ("" after a deletion), or 0 and the record or false
-- include: clock record
local reply = {}
while at < #ARGV do
  local key, expected, has_value, value, ttl_ms = arg(), number_arg(), arg(), arg(), number_arg()
  local packed, version = read_record(key)
  if version ~= expected then
    reply[#reply + 1] = 0
    reply[#reply + 1] = packed or false
  elseif has_value ~= '1' then
    delete_record(key)
    reply[#reply + 1] = 1
    reply[#reply + 1] = ''
  else
    local new_version = next_seq()
    local expires_at = ttl_ms and instant_after(ttl_ms) or -1
    redis.call('HSET', root .. 'rb', key, struct.pack('<dd', new_version, expires_at) .. value)
    redis.call('ZADD', root .. 'ri', 0, key)
    if expires_at >= 0 then redis.call('ZADD', root .. 're', expires_at, key)
    else redis.call('ZREM', root .. 're', key) end
    reply[#reply + 1] = 1
    reply[#reply + 1] = text_of(new_version)
  end
end
save_clock()
return reply
