#!lua flags=allow-oom
-- Queued: done, at once. Processing: asked, its holder hears of it by renew. One that is cancelled
-- already: done, and nothing changes: the repeat after a lost reply is told what the first was told.
--
-- ARGV     clock, has reason 0|1, reason, has by 0|1, by; then as change-each.lua
-- include: clock header queue ring places job filter change-each
local has_reason, reason, has_by, by = arg(), arg(), arg(), arg()
reason = has_reason == '1' and reason or nil
by = has_by == '1' and by or nil
return change_each(function(q, id, h)
  if h.status == QUEUED then
    leave_line(q, id, h)
    end_cancelled(q, id, h, reason, by)
    save_header(q, id, h)
    return DONE, CANCELLED
  end
  if h.status == PROCESSING then
    set_detail(q, id, h, 'u', reason)
    set_detail(q, id, h, 'v', by)
    set(h, CANCEL_ASKED)
    h.updated_at = now
    save_header(q, id, h)
    return ASKED, h.status
  end
  return h.status == CANCELLED and DONE or REFUSED, h.status
end)
