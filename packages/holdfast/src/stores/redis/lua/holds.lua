-- Holds by their owner. Those of a line are JSON in `ho`, those of the queue in its `m`; when the last
-- of them ends is beside them, so that `lease` reads no JSON.
local function in_force(holds)
  local left, held_until, count = {}, nil, 0
  for owner, hold in pairs(holds) do
    local until_at = hold['until'] or math.huge
    if until_at > now then
      left[owner] = hold
      count = count + 1
      held_until = math.max(held_until or 0, until_at)
    end
  end
  return left, held_until, count
end

local function line_holds(q, group)
  local text = redis.call('HGET', q.ho, group)
  return text and cjson.decode(text) or {}
end
local function queue_holds(q)
  local text = redis.call('HGET', q.m, 'holds')
  return text and cjson.decode(text) or {}
end

local function save_holds(q, group, holds)
  local left, held_until, count = in_force(holds)
  q.has_settings = nil
  if count == 0 then
    redis.call('HDEL', q.ho, group)
    redis.call('ZREM', q.hu, group)
  else
    redis.call('HSET', q.ho, group, cjson.encode(left))
    redis.call('ZADD', q.hu, score_of(held_until), group)
    redis.call('ZADD', q.n, 0, group)
    gate(q)
  end
end

local function save_queue_holds(q, holds)
  local left, held_until, count = in_force(holds)
  if count == 0 then
    redis.call('HDEL', q.m, 'holds', 'heldUntil')
  else
    redis.call('HSET', q.m, 'holds', cjson.encode(left), 'heldUntil', score_of(held_until))
  end
end
