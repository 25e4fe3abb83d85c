#!lua flags=allow-oom
-- Lists entries of an older layout where this one looks for them, some in one call. Again, it changes nothing.
--
-- KEYS     root of the ledger
-- ARGV     clock, where to go on
-- returns  where to go on ("0": through)
-- include: clock header ledger
local found = redis.call('ZSCAN', root .. 'ei', arg(), 'COUNT', 500)
for index = 1, #found[2], 2 do
  local member = found[2][index]
  local e = unpack_entry(redis.call('HGET', root .. 'eb', id_of(member)))
  local rest = cjson.decode(e.rest)
  e.kind, e.job = rest.kind, rest.jobId or ''
  list_entry(root, e, member)
end
return found[1]
