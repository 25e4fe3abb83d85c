#!lua flags=allow-oom
-- Patches caps, weights and bounds.
--
-- KEYS     root, then the queues
-- ARGV     clock; changes: queue, has group 0|1, group, counted patches (name, number or "")
-- returns  { queues that are new, queues to wake }
-- include: clock header queue
local made = {}

local function unpark_full(q)
  for _, group in ipairs(redis.call('ZRANGE', q.gf, 0, -1)) do unpark(q, group) end
end

local function patch_line(q, group, name, value)
  local key = name == 'weight' and q.lw or q.lm
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
    unpark(q, group)
    drop_if_idle(q, group)
  else
    unpark_full(q)
  end
  q.wakes = true
end
save_clock()
return { made, woken() }
