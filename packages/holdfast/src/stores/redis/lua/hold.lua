#!lua flags=allow-oom
-- Holds or releases lines and queues of one slot.
--
-- KEYS     root, then the queues
-- ARGV     clock; changes: queue, has group 0|1, group, owner, holds 0|1, forMs or "", reason,
--          has by 0|1, by
-- returns  { queues that are new, queues to wake }
-- include: clock header queue ring places holds
local made = {}
while at < #ARGV do
  local q, has_group, group, owner = queue_at(number_arg()), arg() == '1', arg(), arg()
  local holds_it, for_ms, reason = arg() == '1', tonumber(arg()), arg()
  local has_by, by = arg(), arg()
  local hold = nil
  if holds_it then
    hold = { reason = reason, since = now }
    if has_by == '1' then hold.by = by end
    if for_ms then hold['until'] = instant_after(for_ms) end
    if make_queue(q) then made[#made + 1] = q.index end
  end
  if has_group then
    local holds = line_holds(q, group)
    holds[owner] = hold
    save_holds(q, group, holds)
    stand_again(q, group)
    if not hold then drop_if_idle(q, group) end
  else
    local holds = queue_holds(q)
    holds[owner] = hold
    save_queue_holds(q, holds)
  end
  if not hold then q.wakes = true end
end
save_clock()
return { made, woken() }
