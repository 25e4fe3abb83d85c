#!lua flags=allow-oom
-- Removes what has been carried elsewhere.
--
-- KEYS     root, then the queues
-- ARGV     clock; queue, running number in hexadecimal, queue, …
-- include: clock header queue ring places
while at < #ARGV do
  local q, seq = queue_at(number_arg()), text_of(tonumber(arg(), 16) or -1)
  redis.call('ZREMRANGEBYSCORE', q.o, seq, seq)
end
return 0
