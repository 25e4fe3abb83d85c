#!lua flags=allow-oom
-- How many ready jobs are before this one in its line.
--
-- KEYS     root, then the queues
-- ARGV     clock, id
-- returns  the number; -1 if the job is not ready, or not here
-- include: clock header queue ring places
local id = arg()
for index = 1, #KEYS - 1 do
  local q = queue_at(index)
  local h = header_of(q, id)
  if h then
    move_due(q, 1000)
    save_clock()
    return redis.call('ZRANK', q.r .. h.group, h.age .. id) or -1
  end
end
return -1
