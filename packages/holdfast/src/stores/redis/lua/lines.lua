#!lua flags=allow-oom
-- A page of the lines of a queue, by group. Lets due jobs into their lines first.
--
-- KEYS     root, queue
-- ARGV     clock, has cursor 0|1, the group after which to begin, how many, else the group to begin with
-- returns  {} if the queue is unknown, else { now, maxActive, maxPerGroup, maxWaiting, holds, active,
--            is there more 0|1, the last group looked at,
--            group, waiting, active, maxActive, weight, holds, createdAt of the head as text, … }
-- include: clock header queue ring places
local q = queue_at(1)
local has_cursor, after, limit, first = arg() == '1', arg(), number_arg(), arg()
if not is_made(q) then return {} end
move_due(q, 1000)
local from = has_cursor and '(' .. after or '[' .. first
local groups = redis.call('ZRANGEBYLEX', q.n, from, '+', 'LIMIT', 0, limit + 1)
local kept = redis.call('HMGET', q.m, 'maxActive', 'maxPerGroup', 'maxWaiting', 'holds')
local reply = { now, kept[1], kept[2], kept[3], kept[4], redis.call('ZCARD', q.a),
  #groups > limit and 1 or 0, groups[math.min(#groups, limit)] or '' }
for index = 1, math.min(#groups, limit) do
  local group = groups[index]
  local head = redis.call('ZRANGE', q.r .. group, 0, 0)[1]
  local header = head and header_of(q, id_of(head))
  reply[#reply + 1] = group
  reply[#reply + 1] = redis.call('ZCARD', q.r .. group)
  reply[#reply + 1] = tonumber(redis.call('HGET', q.la, group)) or 0
  reply[#reply + 1] = redis.call('HGET', q.lm, group)
  reply[#reply + 1] = redis.call('HGET', q.lw, group)
  reply[#reply + 1] = redis.call('HGET', q.ho, group)
  reply[#reply + 1] = header and text_of(header.created_at) or ''
end
save_clock()
return reply
