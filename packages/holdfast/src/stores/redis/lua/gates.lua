-- What may keep a ready job back: holds and caps, of its queue and of its line. Nothing else does.
-- `hu` has the lines that are held, by when their last hold ends; `lm` and `lw` are caps and weights.
local function read_gates(q)
  local kept = kept_of(q)
  q.max_active, q.max_per_group, q.vt = kept.max_active, kept.max_per_group, kept.vt
  q.held_until = kept.held_until and kept.held_until > now and kept.held_until or nil
  -- A cap of the queue, or its default for lines, concerns every line; else only those with their own.
  q.is_all_capped = q.max_active ~= nil or q.max_per_group ~= nil
  -- Most queues have none of these: one question for all three.
  local has_any = redis.call('EXISTS', q.hu, q.lm, q.lw) > 0
  q.has_holds = has_any and redis.call('EXISTS', q.hu) == 1
  q.has_caps = has_any and redis.call('EXISTS', q.lm) == 1
  q.has_weights = has_any and redis.call('EXISTS', q.lw) == 1
end

local NONE = {}

-- Of these lines: how many jobs each may give and how heavy it is. One that is held, full, or in the wrong
-- half of the ring is put where it belongs, and may give none. A line without a cap of its own has the
-- queue's default, the line of jobs without a group too.
local function open_lines(q, lines)
  if not (q.has_holds or q.has_caps or q.has_weights or q.max_per_group) then
    for _, line in ipairs(lines) do line.slots, line.weight = FOREVER, 1 end
    return
  end
  local groups = {}
  for index, line in ipairs(lines) do groups[index] = line.group end
  local holds = q.has_holds and redis.call('ZMSCORE', q.hu, unpack(groups)) or NONE
  local caps = q.has_caps and redis.call('HMGET', q.lm, unpack(groups)) or NONE
  local weights = q.has_weights and redis.call('HMGET', q.lw, unpack(groups)) or NONE
  local counts = (q.has_caps or q.max_per_group) and redis.call('HMGET', q.la, unpack(groups)) or NONE
  for index, line in ipairs(lines) do
    local group, own = line.group, tonumber(caps[index] or nil)
    local held_until, cap = tonumber(holds[index] or nil), own or q.max_per_group
    -- With what this call has taken and not written yet.
    local active = (tonumber(counts[index] or nil) or 0) + (q.taken[group] or 0)
    line.weight, line.slots = tonumber(weights[index] or nil) or 1, cap and cap - active or FOREVER
    local ring = own and q.gc or q.g
    if held_until and held_until > now then
      line.slots, q.has_parked = 0, true
      redis.call('ZREM', line.ring, group)
      redis.call('ZADD', own and q.gpc or q.gp, score_of(held_until), group)
    elseif line.slots <= 0 then
      redis.call('ZREM', line.ring, group)
      redis.call('ZADD', q.gf, text_of(line.pass), group)
    elseif ring ~= line.ring then
      line.slots = 0
      redis.call('ZREM', line.ring, group)
      redis.call('ZADD', ring, text_of(line.pass), group)
    end
  end
end
