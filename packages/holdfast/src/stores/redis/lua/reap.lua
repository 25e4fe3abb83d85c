#!lua flags=allow-oom
-- Puts expired leases back to their places in line, the longest expired first. It kills nothing. A job is
-- charged with a crash, unless its holder never started it, or never knew of it.
--
-- KEYS     root, then the queues
-- ARGV     clock, how many
-- returns  { queues to wake, queue, id, header, charged 0|1, … }
-- include: clock header queue ring places job disowned
local CRASHED = 3
local limit = number_arg()
local expired = {}
for index = 1, #KEYS - 1 do
  local q = queue_at(index)
  local found = redis.call('ZRANGEBYSCORE', q.a, '-inf', text_of(now), 'WITHSCORES', 'LIMIT', 0, limit)
  for item = 1, #found, 2 do
    expired[#expired + 1] = { q = q, member = found[item], until_at = tonumber(found[item + 1]) }
  end
end
table.sort(expired, function(a, b)
  if a.until_at ~= b.until_at then return a.until_at < b.until_at end
  return a.member < b.member
end)
local reply = { {} }
for index = 1, math.min(limit, #expired) do
  local q, id = expired[index].q, id_of(expired[index].member)
  local h = header_of(q, id)
  local is_charged = not has(h, UNSTARTED) and not is_disowned(q, id, h)
  if is_charged then
    add_attempt(q, id, h, CRASHED, '')
    h.crashes = h.crashes + 1
    -- The attempt stays spent.
    unset(h, LEASE_SPENT)
  end
  take_back(q, id, h)
  reply[#reply + 1] = q.index
  reply[#reply + 1] = id
  reply[#reply + 1] = pack_header(h)
  reply[#reply + 1] = is_charged and 1 or 0
end
write_all()
reply[1] = woken()
return reply
