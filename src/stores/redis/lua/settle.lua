#!lua flags=allow-oom
-- Ends attempts. Under the current fence everything is written, under any other nothing. The order
-- inside the one step: riders, outcome, spawned jobs, entries. The outcome comes before the spawned
-- jobs so that a child may take the key its parent has just freed.
--
-- KEYS     root, then the queues
-- ARGV     clock, remembersMs, ask the other queues whether they know an id 0|1; settlements: queue, id, fence, kind, afterMs, mark,
--          category, failure, has text 0|1, text, discard 0|1, riders (see riders.lua), is there
--          more 0|1, and if so, counted: spawned jobs (see insert-one.lua), entries (see ledger.lua),
--          texts for the outbox
--          kind and mark: s succeed (mark: result dropped), r retry (mark: spend), z snooze,
--          l release, c cancel, d die (mark: ran). text: the result, or the reason
-- returns  { queues that are new, queues to wake, results (1 settled, 0 lost), finished ids }
-- include: clock header queue job riders insert-one ledger
local SUCCEEDED_ATTEMPT, FAILED_ATTEMPT, CANCELLED_ATTEMPT = 1, 2, 4
local remembers_ms, elsewhere = number_arg(), arg() == '1'
local results, finished = {}, {}

-- Every job passes here, so its arguments are read without a call for each.
local function read_settlement()
  local s = {
    q = queue_at(ARGV[at + 1] + 0), id = ARGV[at + 2], fence = ARGV[at + 3] + 0, kind = ARGV[at + 4],
    after_ms = ARGV[at + 5] + 0, mark = ARGV[at + 6] == '1', category = ARGV[at + 7] + 0,
    failure = ARGV[at + 8], text = ARGV[at + 9] == '1' and ARGV[at + 10] or nil,
    discard = ARGV[at + 11] == '1', riders = nil, spawn = NOTHING, entries = NOTHING,
    outbox = NOTHING,
  }
  at = at + 11
  s.riders = read_riders()
  if arg() == '0' then return s end
  s.spawn, s.entries, s.outbox = {}, {}, {}
  for index = 1, number_arg() do s.spawn[index] = read_new_job() end
  for index = 1, number_arg() do
    local id, entry = read_entry()
    s.entries[index] = { id, entry }
  end
  for index = 1, number_arg() do s.outbox[index] = arg() end
  return s
end

-- Takes back what this lease added: an exhausted one added nothing.
local function give_back(h)
  if has(h, LEASE_SPENT) then h.attempts = h.attempts - 1 end
end

local function recorded_as(h, s)
  if s.kind == 's' then return h.attempts ~= 1 and SUCCEEDED_ATTEMPT or nil end
  if s.kind == 'r' or (s.kind == 'd' and s.mark) then return FAILED_ATTEMPT end
  return s.kind == 'c' and CANCELLED_ATTEMPT or nil
end

local function conclude(s, h)
  local q, id, kind = s.q, s.id, s.kind
  if s.failure ~= '' then
    set_detail(q, id, h, 'e', s.failure)
    h.category = s.category
  end
  local is_stopped = kind ~= 's' and has(h, CANCEL_ASKED)
  local has_run = kind ~= 'd' or s.mark
  local recorded = is_stopped and has_run and CANCELLED_ATTEMPT or recorded_as(h, s)
  if recorded then add_attempt(q, id, h, recorded, s.failure) end
  if not has_run then give_back(h) end
  leave_lease(q, id, h)
  if is_stopped then
    local why = redis.call('HMGET', q.x, 'u' .. id, 'v' .. id)
    end_cancelled(q, id, h, why[1], why[2], s.discard)
  elseif kind == 's' then
    set_detail(q, id, h, 'r', s.text)
    unset(h, RESULT_DROPPED)
    if s.mark then set(h, RESULT_DROPPED) end
    set_detail(q, id, h, 'e', nil)
    h.category = 0
    finish(q, id, h, SUCCEEDED, s.discard)
  elseif kind == 'c' then
    end_cancelled(q, id, h, s.text, nil, s.discard)
  elseif kind == 'd' then
    set_detail(q, id, h, 'w', s.text)
    finish(q, id, h, DEAD, s.discard)
  else
    if kind ~= 'r' then give_back(h)
    elseif not s.mark then
      give_back(h)
      h.deferrals = h.deferrals + 1
    end
    requeue(q, id, h, instant_after(s.after_ms))
  end
end

local function spawn(s, h)
  if elsewhere then
    local ids = {}
    for index, child in ipairs(s.spawn) do ids[index] = child.id end
    if #ids > 0 then ask_every_queue(ids) end
  end
  for _, child in ipairs(s.spawn) do
    local result = insert_one(child, true, elsewhere)
    if result[1] ~= ADDED and h then
      local why = result[1] == DUPLICATE and 'duplicate of' or 'conflict with'
      add_log(s.q, s.id, h, 'spawned job ' .. child.id .. ' dropped: ' .. why .. ' ' .. result[2])
    end
  end
end

-- What nearly all jobs do: succeed at the first attempt and bring nothing but a result.
local function succeed_plainly(s, h)
  if s.kind ~= 's' or h.flags ~= LEASE_SPENT or h.attempts ~= 1 or h.lifetime == UNTIL_FINISHED
    or s.riders or s.discard then return false end
  h.flags, h.category, h.settled_fence = s.mark and RESULT_DROPPED or 0, 0, h.fence
  h.status, h.finished_at, h.updated_at, h.lease_until = SUCCEEDED, now, now, -1
  if s.text then set_detail(s.q, s.id, h, 'r', s.text) end
  leave_lease(s.q, s.id, h)
  stand_finished(s.q, s.id, h)
  return true
end

local function settle_one(s)
  local q, id = s.q, s.id
  local h, other = held_by(q, id, s.fence)
  if not h then
    local last = other and other.settled_fence or remembered(q, id)
    return last == s.fence and 1 or 0
  end
  if not succeed_plainly(s, h) then
    take_along(q, id, h, s.riders)
    h.settled_fence = h.fence
    conclude(s, h)
  end
  if h.status > PROCESSING then
    finished[#finished + 1] = id
    if s.discard then
      bury(q, id, h, remembers_ms)
      h = nil
    end
  end
  if h then save_header(q, id, h) end
  if s.spawn == NOTHING then return 1 end
  spawn(s, h)
  for _, entry in ipairs(s.entries) do append_entry(root, entry[1], entry[2]) end
  for _, text in ipairs(s.outbox) do
    local seq = next_seq()
    redis.call('ZADD', q.o, seq, member_of(seq, text))
  end
  return 1
end

local settlements, ids = {}, {}
while at < #ARGV do
  local s = read_settlement()
  settlements[#settlements + 1] = s
  local of_queue = ids[s.q] or {}
  of_queue[#of_queue + 1] = s.id
  ids[s.q] = of_queue
end
for q, of_queue in pairs(ids) do read_headers(q, of_queue) end
for index, s in ipairs(settlements) do results[index] = settle_one(s) end
write_added()
write_all()
return { made, woken(), results, finished }
