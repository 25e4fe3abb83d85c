#!lua
-- Queued jobs only: due at another time, same place in line.
--
-- ARGV     clock, runAt or "", delayMs; then as change-each.lua
-- include: clock header queue ring places job filter change-each
local run_at, delay_ms = tonumber(arg()), number_arg()
return change_each(function(q, id, h)
  if h.status ~= QUEUED then return REFUSED, h.status end
  leave_line(q, id, h)
  h.run_at, h.updated_at = run_at or instant_after(delay_ms), now
  place_in_line(q, id, h)
  save_header(q, id, h)
  return DONE, QUEUED
end)
