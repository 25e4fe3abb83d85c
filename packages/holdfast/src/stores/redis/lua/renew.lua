#!lua flags=allow-oom
-- Extends leases. A lease that ran out but was not reaped is still its holder's: the fence decides.
--
-- KEYS     root, then the queues
-- ARGV     clock, leaseMs; renewals: queue, id, fence, order or "", starts 0|1, updates (see updates.lua)
-- returns  per renewal: 0 lost, 1 kept, 2 cancellation asked for
-- include: clock header queue ring places job updates
local lease_until = instant_after(number_arg())
local reply = {}
while at < #ARGV do
  local q, id, fence, order = queue_at(number_arg()), arg(), number_arg(), tonumber(arg())
  local starts, updates = arg() == '1', read_updates()
  local h = held_by(q, id, fence)
  if h then
    if lease_until < h.lease_until then note_lease(q, lease_until) end
    h.lease_until, h.updated_at = lease_until, now
    redis.call('ZADD', q.a, lease_until, h.age .. id)
    if starts then unset(h, UNSTARTED) end
    if updates and (not order or order > h.updates_order) then
      if order then h.updates_order = order end
      take_along(q, id, h, updates)
    end
    save_header(q, id, h)
  end
  reply[#reply + 1] = not h and 0 or has(h, CANCEL_ASKED) and 2 or 1
end
write_all()
return reply
