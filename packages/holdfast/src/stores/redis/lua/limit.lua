#!lua flags=allow-oom
-- Patches caps, weights and bounds.
--
-- KEYS     root, then the queues
-- ARGV     clock; changes: queue, has group 0|1, group, counted patches (name, number or "")
-- returns  { queues that are new, queues to wake }
-- include: clock header queue ring places
local made = {}

-- Lines that are full under the old cap are looked at again by the leases to come, some at a time.
local function look_again(q)
  if redis.call('EXISTS', q.gr) == 1 then
    redis.call('ZUNIONSTORE', q.gr, 2, q.gr, q.gf)
    redis.call('UNLINK', q.gf)
  elseif redis.call('EXISTS', q.gf) == 1 then
    redis.call('RENAME', q.gf, q.gr)
  end
end

local function patch_line(q, group, name, value)
  local key = name == 'weight' and q.lw or q.lm
  q.has_settings = nil
  if key == q.lm then gate(q) end
  if value == '' then redis.call('HDEL', key, group) else redis.call('HSET', key, group, value) end
end

while at < #ARGV do
  local q, has_group, group = queue_at(number_arg()), arg() == '1', arg()
  if make_queue(q) then made[#made + 1] = q.index end
  for _ = 1, number_arg() do
    local name, value = arg(), arg()
    if has_group then
      patch_line(q, group, name, value)
    elseif value == '' then
      redis.call('HDEL', q.m, name)
    else
      redis.call('HSET', q.m, name, value)
    end
  end
  if has_group then
    redis.call('ZADD', q.n, 0, group)
    stand_again(q, group)
    drop_if_idle(q, group)
  else
    -- What was read of the queue is old.
    q.kept = nil
    look_again(q)
  end
  q.wakes = true
end
save_clock()
return { made, woken() }
