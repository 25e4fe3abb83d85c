-- Ids of workers under which nobody leases any more, because a reply of a lease got lost: `w` has them by
-- when they are forgotten, `w:<worker>` what the worker knew of, a set of id:fence. A lease may arrive after it
-- was disowned, so they are remembered for as long as a call may be on its way.
local REMEMBERED_MS = 3600000

local function is_known(q, id, h)
  return redis.call('SISMEMBER', q.w .. ':' .. h.worker, id .. ':' .. text_of(h.fence)) == 1
end

-- Whether the holder of this job has said that it does not know of it. Most queues have none of these: one
-- question for all jobs of a call.
local function is_disowned(q, id, h)
  if q.has_disowned == nil then q.has_disowned = redis.call('EXISTS', q.w) == 1 end
  if not q.has_disowned then return false end
  local forget_at = tonumber(redis.call('ZSCORE', q.w, h.worker))
  return forget_at ~= nil and forget_at > now and not is_known(q, id, h)
end

-- Answers whether there may be more to forget.
local function forget_workers(q, at_most)
  local over = redis.call('ZRANGEBYSCORE', q.w, '-inf', text_of(now), 'LIMIT', 0, at_most)
  for _, worker in ipairs(over) do
    redis.call('UNLINK', q.w .. ':' .. worker)
    redis.call('ZREM', q.w, worker)
  end
  return #over == at_most
end
