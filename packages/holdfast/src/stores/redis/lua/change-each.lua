-- An operator's hand: each verb is a rule for one job; here the jobs are found and answered for.
--
-- KEYS     root, then the queues
-- ARGV     clock; what the verb needs; a filter (see filter.lua), or "-"; ids
-- returns  { queues to wake, finished ids, result, status, result, status, … }; a result: 0 missing,
--          1 done, 2 asked, 3 refused, 4 does not fit the filter (any more); status 0: none
local MISSING, DONE, ASKED, REFUSED, UNFIT = 0, 1, 2, 3, 4

local function locate(id)
  for index = 1, #KEYS - 1 do
    local h = header_of(queue_at(index), id)
    if h then return queue_at(index), h end
  end
end

local function change_each(change)
  local filter = read_filter()
  local reply, finished, ids = { {}, {} }, {}, {}
  while at < #ARGV do ids[#ids + 1] = arg() end
  for index = 1, #KEYS - 1 do read_headers(queue_at(index), ids) end
  for _, id in ipairs(ids) do
    local q, h = locate(id)
    local result, status = MISSING, 0
    if h and filter and not fits(q, id, h, filter) then
      result = UNFIT
    elseif h then
      result, status = change(q, id, h)
      if result == DONE and status > PROCESSING then finished[#finished + 1] = id end
    end
    reply[#reply + 1] = result
    reply[#reply + 1] = status
  end
  write_all()
  reply[1], reply[2] = woken(), finished
  return reply
end

local function leave_place(q, id, h)
  if h.status == QUEUED then leave_line(q, id, h) else leave_finished(q, id, h) end
end
