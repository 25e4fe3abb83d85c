#!lua flags=no-writes
-- Jobs by their ids, whole or without what can be long.
--
-- KEYS     root, then the queues
-- ARGV     clock, what of each: w whole, s without what can be long, n without payload and result too; ids
-- returns  per id: {} unknown, { 0 } pruned, or { queue, header, body, details, steps, logs, history }
-- include: clock header queue ring places job
local what = arg()
local whole = what == 'w'
local count = #KEYS - 1

local function read_job(q, id, packed)
  local h = unpack_header(packed)
  local job = { q.index, packed, redis.call('HGET', q.b, id) }
  job[4] = has(h, HAS_DETAILS) and redis.call('HMGET', q.x, detail_fields(id)) or {}
  if what == 'n' then
    -- The body is "-" and the payload, or "+", a line of JSON and the payload (body.ts).
    job[3] = (sub(job[3], 1, 1) == '-' and '-' or string.match(job[3], '^[^\n]*\n')) .. 'null'
    if #job[4] > 0 then job[4][1] = false end
  end
  if not whole then return job end
  job[5] = has(h, HAS_STEPS) and redis.call('HGETALL', q.base .. 's:' .. id) or {}
  job[6] = has(h, HAS_LOGS) and redis.call('LRANGE', q.base .. 'l:' .. id, 0, -1) or {}
  job[7] = has(h, HAS_HISTORY) and redis.call('LRANGE', q.base .. 'y:' .. id, 0, -1) or {}
  return job
end

-- Queue by queue, each asked once for all ids that are still looked for.
local ids, reply = {}, {}
while at < #ARGV do ids[#ids + 1] = arg() end
for place = 1, #ids do reply[place] = {} end
for index = 1, count do
  local q = queue_at(index)
  local packed = redis.call('HMGET', q.h, unpack(ids))
  local has_tombs = redis.call('EXISTS', q.t) == 1
  for place, id in ipairs(ids) do
    if #reply[place] < 2 then
      if packed[place] then
        reply[place] = read_job(q, id, packed[place])
      elseif has_tombs and remembered(q, id) then
        reply[place] = { 0 }
      end
    end
  end
end
return reply
