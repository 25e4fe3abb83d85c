#!lua
-- Replaces state, body or both.
--
-- KEYS     root of the ledger
-- ARGV     clock; amendments: id, has state 0|1, state, has body 0|1, body
-- returns  per amendment: 1 amended, 0 missing
-- include: clock header ledger
local reply = {}
while at < #ARGV do
  local id, has_state, state, has_body, body = arg(), arg(), arg(), arg(), arg()
  local packed = redis.call('HGET', root .. 'eb', id)
  if packed then
    local e = unpack_entry(packed)
    if has_state == '1' then e.state = state end
    if has_body == '1' then e.body = body end
    e.amended_at = now
    redis.call('HSET', root .. 'eb', id, pack_entry(e))
  end
  reply[#reply + 1] = packed and 1 or 0
end
save_clock()
return reply
