#!lua flags=no-writes
-- What dead jobs have in common, and how many have each word; see places.lua. By "q" it is the queue itself.
--
-- KEYS     root, then the queues
-- ARGV     clock, letter, how many words of a queue at most
-- returns  queue, { word, how many, … }, …
-- include: clock header queue ring places
local letter, most = arg(), number_arg()
local reply = {}
for index = 1, #KEYS - 1 do
  local q = queue_at(index)
  local words
  if letter == 'q' then
    local count = redis.call('ZCARD', q.f .. 'd')
    words = count > 0 and { '+', count } or {}
  else
    words = redis.call('ZRANGE', q.dn .. letter, 0, most - 1, 'REV', 'WITHSCORES')
  end
  if #words > 0 then
    reply[#reply + 1] = index
    reply[#reply + 1] = words
  end
end
return reply
