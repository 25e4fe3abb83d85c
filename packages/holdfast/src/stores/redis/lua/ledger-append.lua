#!lua
-- KEYS     root of the ledger
-- ARGV     clock; entries (see ledger.lua)
-- returns  per entry: 1 added, 0 duplicate
-- include: clock header ledger
local reply = {}
while at < #ARGV do
  local id, entry = read_entry()
  reply[#reply + 1] = append_entry(root, id, entry)
end
save_clock()
return reply
