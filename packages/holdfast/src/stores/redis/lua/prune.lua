#!lua flags=allow-oom
-- Deletes finished jobs that are past a policy, the oldest first; then clears, in bounded steps, what
-- has ended by itself: memories of deleted jobs and of disowned ids, keys, holds. Nobody saw those any
-- more.
--
-- KEYS     root, then the queues
-- ARGV     clock, remembersMs, how many; shelves: queue, status, counted policies (olderThanMs or "",
--          keep or "")
-- returns  { how many were deleted, is there more to clear 0|1 }
-- include: clock header queue ring places job holds disowned
local SWEEP = 500
local remembers_ms, limit = number_arg(), number_arg()

-- Both bounds cut off the old end of the shelf: the longer cut is how many are past.
local function past_count(shelf, older_than_ms, keep)
  local past = 0
  if older_than_ms then
    past = redis.call('ZCOUNT', shelf, '-inf', text_of(now - older_than_ms))
  end
  if keep then past = math.max(past, redis.call('ZCARD', shelf) - keep) end
  return past
end

local found = {}
while at < #ARGV do
  local q, status = queue_at(number_arg()), number_arg()
  local shelf, past = q.f .. STATUS_LETTER[status], 0
  for _ = 1, number_arg() do
    past = math.max(past, past_count(shelf, tonumber(arg()), tonumber(arg())))
  end
  past = math.min(past, limit)
  local oldest = past > 0 and redis.call('ZRANGE', shelf, 0, past - 1, 'WITHSCORES') or {}
  for index = 1, #oldest, 2 do
    found[#found + 1] = { q = q, member = oldest[index], at = tonumber(oldest[index + 1]) }
  end
end
table.sort(found, function(a, b)
  if a.at ~= b.at then return a.at < b.at end
  return a.member < b.member
end)
local pruned = math.min(limit, #found)
for index = 1, pruned do
  local q, id = found[index].q, id_of(found[index].member)
  local h = header_of(q, id)
  leave_finished(q, id, h)
  bury(q, id, h, remembers_ms)
end

local is_more = 0
local function ended(key)
  local found = redis.call('ZRANGEBYSCORE', key, '-inf', text_of(now), 'LIMIT', 0, SWEEP)
  if #found == SWEEP then is_more = 1 end
  return found
end
for index = 1, #KEYS - 1 do
  local q = queue_at(index)
  if forget_some(q, SWEEP, remembers_ms) then is_more = 1 end
  if forget_workers(q, SWEEP) then is_more = 1 end
  for _, key in ipairs(ended(q.ke)) do
    redis.call('HDEL', q.k, key)
    redis.call('ZREM', q.ke, key)
  end
  for _, group in ipairs(ended(q.hu)) do
    save_holds(q, group, line_holds(q, group))
    drop_if_idle(q, group)
  end
end
write_all()
return { pruned, is_more }
