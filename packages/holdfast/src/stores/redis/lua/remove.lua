#!lua flags=allow-oom
-- Any job that is not processing. Frees its key.
--
-- ARGV     clock, remembersMs; then as change-each.lua
-- include: clock header queue ring places job filter change-each
local remembers_ms = number_arg()
return change_each(function(q, id, h)
  if h.status == PROCESSING then return REFUSED, h.status end
  leave_place(q, id, h)
  free_key(q, id, h)
  bury(q, id, h, remembers_ms)
  return DONE, 0
end)
