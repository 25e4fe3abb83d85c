-- The ring of a queue: where a line with ready jobs waits for its turn. It is in exactly one of these:
--
--   g   gc    open: it may give a job now              by its virtual time
--   gp  gpc   held until a time, or until released     by when its last hold ends
--   gf        full: as many are leased as may be       by its virtual time
--   gr        full, until the queue's cap was changed  by its virtual time
--
-- A line that gives jobs moves back by what it gave, divided by its weight. In `gc` and `gpc` are the lines
-- with a cap of their own: a worker without room for more of capped lines asks only for the others, and
-- must not walk through thousands to find one.
--
-- A line is put where it belongs when its first job becomes ready, when it becomes full, when a job of it
-- leaves, and when a hold or a cap changes. So a lease walks through lines that give something, and
-- however many are held or full, they cost it nothing. Lines that a lower cap of the queue has made full,
-- and those that an older version put elsewhere, are put right by the lease that finds them.
local FOREVER = math.huge

local function add(list, first, second)
  list[#list + 1] = first
  list[#list + 1] = second
end

-- Endless ones have no number in JSON, and a score of their own in a sorted set.
local function score_of(held_until)
  return held_until == FOREVER and '+inf' or text_of(held_until)
end

-- `gated` is set from the first hold or cap of a line on: most queues never have any.
local function stand(q, group, pass)
  local kept = kept_of(q)
  if not (kept.gated or kept.max_per_group) then
    redis.call('ZADD', q.g, text_of(pass), group)
    return
  end
  local own = kept.gated and tonumber(redis.call('HGET', q.lm, group))
  local held_until = kept.gated and tonumber(redis.call('ZSCORE', q.hu, group))
  if held_until and held_until > now then
    redis.call('ZADD', own and q.gpc or q.gp, score_of(held_until), group)
    return
  end
  local cap = own or kept.max_per_group
  local is_full = cap and (tonumber(redis.call('HGET', q.la, group)) or 0) >= cap
  if is_full then q.has_settings = true end
  redis.call('ZADD', is_full and q.gf or own and q.gc or q.g, text_of(pass), group)
end

local function wait_turn(q, group)
  stand(q, group, kept_of(q).vt)
  redis.call('ZADD', q.n, 0, group)
end

-- Answers whether it was there, and its virtual time if that was known.
local function leave_ring(q, group)
  local was_there, pass = false, nil
  for _, ring in ipairs({ q.g, q.gc, q.gf, q.gr }) do
    local score = redis.call('ZSCORE', ring, group)
    if score then
      redis.call('ZREM', ring, group)
      was_there, pass = true, tonumber(score)
    end
  end
  if redis.call('ZREM', q.gp, group) + redis.call('ZREM', q.gpc, group) > 0 then was_there = true end
  return was_there, pass
end

-- What keeps this line back has changed.
local function stand_again(q, group)
  local was_there, pass = leave_ring(q, group)
  if was_there then stand(q, group, math.max(pass or 0, kept_of(q).vt)) end
end

-- From now on lines of this queue have holds or caps.
local function gate(q)
  local kept = kept_of(q)
  if kept.gated then return end
  kept.gated = '1'
  redis.call('HSET', q.m, 'gated', '1')
end

-- Most queues have no settings of lines and no full ones: one question for all.
local function has_settings(q)
  if q.has_settings == nil then q.has_settings = redis.call('EXISTS', q.lm, q.lw, q.ho, q.gf) > 0 end
  return q.has_settings
end

-- Jobs of these lines have left.
local function reopen_full(q, by_group)
  if not has_settings(q) or redis.call('EXISTS', q.gf) == 0 then return end
  local groups = {}
  for group in pairs(by_group) do groups[#groups + 1] = group end
  for index, pass in ipairs(redis.call('ZMSCORE', q.gf, unpack(groups))) do
    if pass then
      redis.call('ZREM', q.gf, groups[index])
      stand(q, groups[index], math.max(tonumber(pass), kept_of(q).vt))
    end
  end
end

-- Lines come and go with their jobs, or a million groups seen once would stay for ever. These have no job
-- that is leased.
local function drop_idle(q, groups)
  local idle = {}
  for _, group in ipairs(groups) do
    if redis.call('EXISTS', q.r .. group) == 0 then idle[#idle + 1] = group end
  end
  if #idle > 0 and has_settings(q) then
    for _, key in ipairs({ q.lm, q.lw, q.ho }) do
      local left = {}
      for index, found in ipairs(#idle > 0 and redis.call('HMGET', key, unpack(idle)) or {}) do
        if not found then left[#left + 1] = idle[index] end
      end
      idle = left
    end
  end
  if #idle > 0 then redis.call('ZREM', q.n, unpack(idle)) end
end
local function drop_if_idle(q, group)
  if redis.call('HEXISTS', q.la, group) == 0 then drop_idle(q, { group }) end
end
