#!lua flags=allow-oom
-- Takes back what is leased under an id of a worker that does not know of it. First what it knows is
-- written down, then the leases of the queue are looked at, so many in one call. A walk by ZSCAN misses none
-- that is there from its beginning to its end, whatever others renew and settle meanwhile.
--
-- KEYS     root, queue
-- ARGV     clock, worker, does this call begin the list of what it knows 0|1, where to go on ("": nowhere
--          yet, more of the list comes); the list, or a part of it: id:fence, …
-- returns  { queues to wake, where to go on ("0": through), how many went back, { ids that ended } }
-- include: clock header queue ring places job disowned
local LOOK, FORGET = 500, 100
local q = queue_at(1)
local worker, is_new, cursor = arg(), arg() == '1', arg()
local list = q.w .. ':' .. worker

if is_new then
  -- Here too, because prune does not come to a queue that has never had a job.
  forget_workers(q, FORGET)
  redis.call('UNLINK', list)
end
redis.call('ZADD', q.w, instant_after(REMEMBERED_MS), worker)
local known = {}
while at < #ARGV do known[#known + 1] = arg() end
if #known > 0 then redis.call('SADD', list, unpack(known)) end

local taken, ended = 0, {}
local function look()
  local found = redis.call('ZSCAN', q.a, cursor, 'COUNT', LOOK)
  cursor = found[1]
  local ids = {}
  for index = 1, #found[2], 2 do ids[#ids + 1] = id_of(found[2][index]) end
  if #ids == 0 then return end
  read_headers(q, ids)
  for _, id in ipairs(ids) do
    -- The worker is at the end of a header: most are told apart without opening them.
    local h = sub(packed_of(q, id), -#worker) == worker and header_of(q, id)
    -- A walk may come to a job twice.
    if h and h.worker == worker and h.status == PROCESSING and not is_known(q, id, h) then
      take_back(q, id, h)
      taken = taken + 1
      if h.status > PROCESSING then ended[#ended + 1] = id end
    end
  end
end
if cursor ~= '' then look() end
write_all()
return { woken(), cursor, taken, ended }
