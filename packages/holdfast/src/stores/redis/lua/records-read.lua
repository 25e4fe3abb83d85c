#!lua flags=no-writes
-- KEYS     root of the records
-- ARGV     clock; keys
-- returns  per key: the packed record, or false
-- include: clock record
local reply = {}
while at < #ARGV do
  local packed = read_record(arg())
  reply[#reply + 1] = packed or false
end
return reply
