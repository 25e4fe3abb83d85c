#!lua flags=no-writes
-- What must still be carried elsewhere, oldest first.
--
-- KEYS     root, then the queues
-- ARGV     clock, how many
-- returns  queue, running number and text, number, queue, …
-- include: clock header queue ring places
local limit = number_arg()
local reply = {}
for index = 1, #KEYS - 1 do
  local q = queue_at(index)
  for _, item in ipairs(redis.call('ZRANGE', q.o, 0, limit - 1)) do
    reply[#reply + 1] = index
    reply[#reply + 1] = item
  end
end
return reply
