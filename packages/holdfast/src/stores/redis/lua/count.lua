#!lua flags=allow-oom
-- The numbers of each queue. Nothing is counted one by one. The clock is kept: what was counted as due
-- stays due.
--
-- KEYS     root, then the queues
-- returns  per queue: ready, delayed, processing, succeeded, dead, cancelled
-- include: clock header queue ring places
local reply = {}
for index = 1, #KEYS - 1 do
  local q = queue_at(index)
  local processing, delayed = redis.call('ZCARD', q.a), redis.call('ZCARD', q.d)
  local due = redis.call('ZCOUNT', q.d, '-inf', text_of(now))
  local ends = {}
  local finished = 0
  for _, letter in ipairs({ 's', 'd', 'c' }) do
    ends[#ends + 1] = redis.call('ZCARD', q.f .. letter)
    finished = finished + ends[#ends]
  end
  local ready = redis.call('ZCARD', q.i) - processing - delayed - finished
  for _, number in ipairs({ ready + due, delayed - due, processing, ends[1], ends[2], ends[3] }) do
    reply[#reply + 1] = number
  end
end
save_clock()
return reply
