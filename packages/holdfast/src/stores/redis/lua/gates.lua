-- What may keep a ready job back: holds and caps, of its queue and of its line. Nothing else does.
-- `hu` has the lines that are held, by when their last hold ends; `lm` and `lw` are caps and weights.
local FOREVER = math.huge

local function read_gates(q)
  local kept = kept_of(q)
  q.max_active, q.max_per_group, q.vt = kept.max_active, kept.max_per_group, kept.vt
  q.held_until = kept.held_until and kept.held_until > now and kept.held_until or nil
  -- Most queues have none of these: one question for all three.
  local has_any = redis.call('EXISTS', q.hu, q.lm, q.lw) > 0
  q.has_holds = has_any and redis.call('EXISTS', q.hu) == 1
  q.has_caps = has_any and redis.call('EXISTS', q.lm) == 1
  q.has_weights = has_any and redis.call('EXISTS', q.lw) == 1
end

local function line_held_until(q, group)
  local held_until = q.has_holds and tonumber(redis.call('ZSCORE', q.hu, group))
  return held_until and held_until > now and held_until or nil
end

-- A line without a cap of its own has the queue's default, the line of jobs without a group too.
local function line_cap(q, group)
  return q.has_caps and tonumber(redis.call('HGET', q.lm, group)) or q.max_per_group
end

local function line_weight(q, group)
  return q.has_weights and tonumber(redis.call('HGET', q.lw, group)) or 1
end

-- With what this call has taken and not written yet.
local function active_in(q, group)
  return (tonumber(redis.call('HGET', q.la, group)) or 0) + (q.taken[group] or 0)
end

-- How many jobs this line may give; parks it and answers 0 if none.
local function open_slots(q, group, pass)
  local held_until = line_held_until(q, group)
  if held_until then
    redis.call('ZREM', q.g, group)
    redis.call('ZADD', q.gp, held_until == FOREVER and '+inf' or held_until, group)
    return 0
  end
  local cap = line_cap(q, group)
  if not cap then return FOREVER, q.max_active ~= nil end
  local slots = cap - active_in(q, group)
  if slots > 0 then return slots, true end
  redis.call('ZREM', q.g, group)
  redis.call('ZADD', q.gf, pass, group)
  return 0
end
