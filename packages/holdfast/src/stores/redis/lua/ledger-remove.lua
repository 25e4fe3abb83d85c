#!lua flags=allow-oom
-- KEYS     root of the ledger
-- ARGV     clock; ids
-- returns  how many were there
-- include: clock header ledger
local removed = 0
while at < #ARGV do removed = removed + drop_entry(root, arg()) end
save_clock()
return removed
