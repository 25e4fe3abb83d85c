#!lua flags=allow-oom
-- Lists jobs of an older layout where this one looks for them, some in one call. Again, it changes nothing.
--
-- KEYS     root, queue
-- ARGV     clock, the running number after which to go on
-- returns  the running number of the last job looked at, or "" if there is none beyond
-- include: clock header queue ring places
local STEP = 500
local q, from = queue_at(1), arg()
if redis.call('EXISTS', q.hu, q.lm) > 0 then gate(q) end
local ids = redis.call('ZRANGE', q.i, '(' .. from, '+inf', 'BYSCORE', 'LIMIT', 0, STEP)
local last = ''
for index, packed in ipairs(#ids > 0 and redis.call('HMGET', q.h, unpack(ids)) or {}) do
  local id, status = ids[index], status_in(packed)
  if status == DEAD or status == CANCELLED then
    list_ended(q, id, unpack_header(packed))
  elseif status == QUEUED then
    local h = unpack_header(packed)
    if h.attempts > 0 then redis.call('ZADD', q.rt, seq_of(h.age), id) end
  end
  last = text_of(seq_of(age_in(packed)))
end
return last
