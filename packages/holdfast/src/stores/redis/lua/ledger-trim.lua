#!lua flags=allow-oom
-- Removes the oldest entries of a kind that are past either bound.
--
-- KEYS     root of the ledger
-- ARGV     clock, kind, olderThanMs or "", how many to keep or "", how many to remove at most
-- returns  how many were removed
-- include: clock header ledger
local kind, older_than_ms, keep, limit = arg(), tonumber(arg()), tonumber(arg()), number_arg()
local listed = root .. 'ek:' .. kind
-- Both bounds cut off the old end: the longer cut is how many are past.
local past = 0
if older_than_ms then past = redis.call('ZCOUNT', listed, '-inf', text_of(now - older_than_ms)) end
if keep then past = math.max(past, redis.call('ZCARD', listed) - keep) end
past = math.min(past, limit)
for _, member in ipairs(past > 0 and redis.call('ZRANGE', listed, 0, past - 1) or {}) do
  drop_entry(root, id_of(member))
end
save_clock()
return math.max(0, past)
