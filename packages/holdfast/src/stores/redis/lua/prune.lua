#!lua flags=allow-oom
-- Deletes finished jobs that are past a policy, the oldest first; then clears, in bounded steps, what
-- has ended by itself: memories of deleted jobs and of disowned ids, keys, holds. Nobody saw those any
-- more.
--
-- KEYS     root, then the queues
-- ARGV     clock, remembersMs, how many; retention (see retention.lua)
-- returns  { how many were deleted, is there more to clear 0|1, queues that are forgotten }
-- include: clock header queue ring places job holds disowned retention
local SWEEP = 500
local remembers_ms, limit = number_arg(), number_arg()
local sets = read_sets()

local found = {}
for number = 1, #KEYS - 1 do
  local q = queue_at(number)
  q.remembered_some = redis.call('EXISTS', q.te) == 1
  for status, letter in pairs(STATUS_LETTER) do
    local shelf, policies = q.f .. letter, sets[number][status]
    local past = #policies > 0 and math.min(past_count(shelf, policies), limit) or 0
    local oldest = past > 0 and redis.call('ZRANGE', shelf, 0, past - 1, 'WITHSCORES') or {}
    for index = 1, #oldest, 2 do
      found[#found + 1] = { q = q, member = oldest[index], at = tonumber(oldest[index + 1]) }
    end
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

-- In one step so many of each kind, of all queues together.
local sweep = math.max(1, math.floor(SWEEP / (#KEYS - 1)))
local is_more = 0
local function ended(key)
  local found = redis.call('ZRANGEBYSCORE', key, '-inf', text_of(now), 'LIMIT', 0, sweep)
  if #found == sweep then is_more = 1 end
  return found
end
for index = 1, #KEYS - 1 do
  local q = queue_at(index)
  if forget_some(q, sweep, remembers_ms) then is_more = 1 end
  if forget_workers(q, sweep) then is_more = 1 end
  for _, key in ipairs(ended(q.ke)) do
    redis.call('HDEL', q.k, key)
    redis.call('ZREM', q.ke, key)
  end
  for _, group in ipairs(ended(q.hu)) do
    save_holds(q, group, line_holds(q, group))
    drop_if_idle(q, group)
  end
end
-- A queue without jobs, settings and holds, and without anything that is remembered, is forgotten an hour
-- after its last use. Where something was remembered and is no more, that hour has passed.
local UNUSED_MS = 3600000
local forgotten = {}
local function is_bare(q)
  if redis.call('EXISTS', q.i, q.t, q.te, q.k, q.o, q.w, q.n, q.lm, q.lw, q.ho, q.base .. 'eb') > 0 then
    return false
  end
  local kept = redis.call('HMGET', q.m, 'maxActive', 'maxPerGroup', 'maxWaiting', 'holds')
  return not (kept[1] or kept[2] or kept[3] or kept[4] or ahead)
end
local function forget_if_unused(q)
  local kept = kept_of(q)
  local empty_at, is_long_ago = tonumber(kept.empty_at), q.remembered_some and remembers_ms >= UNUSED_MS
  if not is_long_ago and not empty_at then
    redis.call('HSET', q.m, 'emptyAt', text_of(now))
  elseif is_long_ago or empty_at <= now - UNUSED_MS then
    forgotten[#forgotten + 1] = q.index
    if root ~= q.base then
      redis.call('UNLINK', q.m)
      redis.call('SREM', root .. 'q', name_of(q))
      redis.call('ZREM', root .. 'ra', name_of(q))
    end
  end
end
for index = 1, #KEYS - 1 do
  local q = queue_at(index)
  if is_bare(q) then forget_if_unused(q) end
end
write_all()
-- In a cluster the queue is its own root, whose clock has just been written.
if KEYS[2] == root and #forgotten > 0 then redis.call('UNLINK', KEYS[1]) end
return { pruned, is_more, forgotten }
