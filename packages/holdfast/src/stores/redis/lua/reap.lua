#!lua flags=allow-oom
-- Puts expired leases back to their places in line, the longest expired first. It kills nothing. A job is
-- charged with a crash, unless its holder never started it, or never knew of it.
--
-- KEYS     root, then the queues to look at; of one server, if none is named: those where a lease may have
--          run out
-- ARGV     clock, how many (0: only say whether there is one), is a queue named 0|1
-- returns  { queues to wake, their names as in keys, is there more 0|1, name, id, header, charged 0|1, … }
-- include: clock header queue ring places job disowned
local CRASHED = 3
-- So many queues are looked at in one call.
local MOST = 500
local limit, are_named = number_arg(), arg() == '1'
local enough = math.max(1, limit)
local expired, asked, looked = {}, {}, {}
if are_named then
  for index = 1, #KEYS - 1 do asked[index] = queue_at(index) end
else
  local due = redis.call('ZRANGEBYSCORE', root .. 'ra', '-inf', text_of(now), 'LIMIT', 0, MOST)
  for index, name in ipairs(due) do
    asked[index] = queue_named(name)
    asked[index].index = index
  end
end
for index, q in ipairs(asked) do
  if #expired >= 10 * enough then break end
  looked[index] = q
  local found = redis.call('ZRANGEBYSCORE', q.a, '-inf', text_of(now), 'WITHSCORES', 'LIMIT', 0, enough)
  for item = 1, #found, 2 do
    expired[#expired + 1] = { q = q, member = found[item], until_at = tonumber(found[item + 1]) }
  end
end
table.sort(expired, function(a, b)
  if a.until_at ~= b.until_at then return a.until_at < b.until_at end
  return a.member < b.member
end)
local reply = { {}, {}, 0 }
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
if root ~= (asked[1] and asked[1].base) then
  for index, q in ipairs(looked) do
    local name, first = name_of(q), redis.call('ZRANGE', q.a, 0, 0, 'WITHSCORES')[2]
    if first then redis.call('ZADD', root .. 'ra', first, name)
    else redis.call('ZREM', root .. 'ra', name) end
    reply[2][index] = name
  end
end
if #expired >= enough or #asked == MOST or #looked < #asked then reply[3] = 1 end
reply[1] = woken()
return reply
