#!lua flags=allow-oom
-- Deletes records that have ended. Nobody saw them any more.
--
-- KEYS     root of the records
-- ARGV     clock
-- include: clock record
local ended = redis.call('ZRANGEBYSCORE', root .. 're', '-inf', text_of(now), 'LIMIT', 0, 500)
for _, key in ipairs(ended) do delete_record(key) end
return #ended
