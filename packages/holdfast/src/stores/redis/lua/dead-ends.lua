#!lua flags=no-writes
-- Of dead jobs that have a word in common: when the first and the last of them died, and which was the last.
--
-- KEYS     root, then the queues
-- ARGV     clock, letter; queue, word, queue, word, …
-- returns  per word: first as text, last as text, id; empty texts if there are none any more
-- include: clock header queue ring places
local letter = arg()
local reply = {}
while at < #ARGV do
  local q, word = queue_at(number_arg()), arg()
  local key = letter == 'q' and q.f .. 'd' or q.dk .. letter .. word
  local first = redis.call('ZRANGE', key, 0, 0, 'WITHSCORES')
  local last = redis.call('ZRANGE', key, -1, -1, 'WITHSCORES')
  reply[#reply + 1] = first[2] or ''
  reply[#reply + 1] = last[2] or ''
  reply[#reply + 1] = last[1] and id_of(last[1]) or ''
end
return reply
