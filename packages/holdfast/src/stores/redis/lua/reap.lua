#!lua flags=allow-oom
-- Puts expired leases back to their places in line, the longest expired first. The fence moves on, or
-- the old holder's late settle would look like the repeat of one that happened. It kills nothing.
--
-- KEYS     root, then the queues
-- ARGV     clock, how many
-- returns  { queues to wake, queue, id, header, queue, id, header, … }
-- include: clock header queue job
local CRASHED = 3
local limit = number_arg()
local expired = {}
for index = 1, #KEYS - 1 do
  local q = queue_at(index)
  local found = redis.call('ZRANGEBYSCORE', q.a, '-inf', text_of(now), 'WITHSCORES', 'LIMIT', 0, limit)
  for item = 1, #found, 2 do
    expired[#expired + 1] = { q = q, member = found[item], until_at = tonumber(found[item + 1]) }
  end
end
table.sort(expired, function(a, b)
  if a.until_at ~= b.until_at then return a.until_at < b.until_at end
  return a.member < b.member
end)
local reply = { {} }
for index = 1, math.min(limit, #expired) do
  local q, id = expired[index].q, id_of(expired[index].member)
  local h = header_of(q, id)
  add_attempt(q, id, h, CRASHED, '')
  h.crashes = h.crashes + 1
  h.fence = fence_after(h.fence)
  leave_lease(q, h.group, expired[index].member)
  if has(h, CANCEL_ASKED) then
    local why = redis.call('HMGET', q.x, 'u' .. id, 'v' .. id)
    end_cancelled(q, id, h, why[1], why[2])
  else
    requeue(q, id, h, h.run_at)
  end
  save_header(q, id, h)
  reply[#reply + 1] = q.index
  reply[#reply + 1] = id
  reply[#reply + 1] = pack_header(h)
end
write_all()
reply[1] = woken()
return reply
