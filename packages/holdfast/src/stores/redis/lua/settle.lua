#!lua flags=allow-oom
-- Ends attempts. Under the current fence everything is written, under any other nothing. The order
-- inside the one step: updates, outcome, spawned jobs, entries. The outcome comes before the spawned
-- jobs so that a child may take the key its parent has just freed.
--
-- KEYS     root, then the queues
-- ARGV     clock, remembersMs, ask the other queues whether they know an id 0|1; counted forms: queue,
--          fence, kind, afterMs, mark, category, discard 0|1, has text 0|1, has failure 0|1, has
--          entries 0|1; then runs of settlements: the number of the form, how many, and of each: id,
--          and what the form says it has: text, failure, entries. If it has none of them: the size of
--          an id and all ids in one text, or 0 and the ids. Luggage: updates (see updates.lua), spawned
--          jobs (see insert-one.lua), counted entries (see ledger.lua), counted texts for the outbox
--          kind and mark: s succeed (mark: result dropped), r retry (mark: spend), z snooze,
--          l release, c cancel, d die (mark: ran). text: the result, or the reason
-- returns  { queues that are new, queues to wake, a digit for each: 0 lost, 1 settled, 2 and finished }
-- include: clock header queue ring places job updates insert-one ledger
local SUCCEEDED_ATTEMPT, FAILED_ATTEMPT, CANCELLED_ATTEMPT = 1, 2, 4
local LOST, SETTLED, FINISHED = '0', '1', '2'
local remembers_ms, elsewhere = number_arg(), arg() == '1'

-- What many settlements of a call have in common comes once.
local function read_form()
  local form = {
    q = queue_at(number_arg()), fence = number_arg(), kind = arg(), after_ms = number_arg(),
    mark = arg() == '1', category = number_arg(), discard = arg() == '1', has_text = arg() == '1',
    has_failure = arg() == '1', has_entries = arg() == '1',
  }
  form.is_plain = form.kind == 's' and not (form.discard or form.has_failure or form.has_entries)
  form.is_bare = not (form.has_text or form.has_failure or form.has_entries)
  form.succeeded = {}
  return form
end

local function read_entries()
  local entries = { updates = read_updates(), spawn = read_new_jobs(), entries = {}, outbox = {} }
  for index = 1, number_arg() do
    local id, entry = read_entry()
    entries.entries[index] = { id, entry }
  end
  for index = 1, number_arg() do entries.outbox[index] = arg() end
  return entries
end

local function recorded_as(h, form)
  if form.kind == 's' then return h.attempts ~= 1 and SUCCEEDED_ATTEMPT or nil end
  if form.kind == 'r' or (form.kind == 'd' and form.mark) then return FAILED_ATTEMPT end
  return form.kind == 'c' and CANCELLED_ATTEMPT or nil
end

local function conclude(form, id, h, text, failure)
  local q, kind = form.q, form.kind
  if failure ~= '' then
    set_detail(q, id, h, 'e', failure)
    h.category = form.category
  end
  local is_stopped = kind ~= 's' and has(h, CANCEL_ASKED)
  local has_run = kind ~= 'd' or form.mark
  local recorded = is_stopped and has_run and CANCELLED_ATTEMPT or recorded_as(h, form)
  if recorded then add_attempt(q, id, h, recorded, failure) end
  if not has_run then give_back(h) end
  leave_lease(q, h.group, h.age .. id)
  if is_stopped then
    local why = redis.call('HMGET', q.x, 'u' .. id, 'v' .. id)
    end_cancelled(q, id, h, why[1], why[2], form.discard)
  elseif kind == 's' then
    set_detail(q, id, h, 'r', text)
    unset(h, RESULT_DROPPED)
    if form.mark then set(h, RESULT_DROPPED) end
    set_detail(q, id, h, 'e', nil)
    h.category = 0
    finish(q, id, h, SUCCEEDED, form.discard)
  elseif kind == 'c' then
    end_cancelled(q, id, h, text, nil, form.discard)
  elseif kind == 'd' then
    set_detail(q, id, h, 'w', text)
    finish(q, id, h, DEAD, form.discard)
  else
    if kind ~= 'r' then give_back(h)
    elseif not form.mark then
      give_back(h)
      h.deferrals = h.deferrals + 1
    end
    requeue(q, id, h, instant_after(form.after_ms))
  end
end

local function spawn(q, id, h, jobs)
  if elsewhere and #jobs.ids > 0 then ask_every_queue(jobs.ids) end
  for index, child in ipairs(jobs.ids) do
    local refusal = insert_one(jobs, index, true, elsewhere)
    if refusal and h then
      local why = refusal[1] == DUPLICATE and 'duplicate of' or 'conflict with'
      add_log(q, id, h, 'spawned job ' .. child .. ' dropped: ' .. why .. ' ' .. refusal[2])
    end
  end
end

local function settle_at_length(form, id, text, failure, entries)
  local q = form.q
  local h, other = held_by(q, id, form.fence)
  if not h then
    local last = other and other.settled_fence or remembered(q, id)
    return last == form.fence and SETTLED or LOST
  end
  if entries then take_along(q, id, h, entries.updates) end
  h.settled_fence = h.fence
  conclude(form, id, h, text, failure)
  local result = h.status > PROCESSING and FINISHED or SETTLED
  if form.discard and result == FINISHED then
    bury(q, id, h, remembers_ms)
    h = nil
  end
  if h then save_header(q, id, h) end
  if not entries then return result end
  spawn(q, id, h, entries.spawn)
  for _, entry in ipairs(entries.entries) do append_entry(root, entry[1], entry[2]) end
  for _, item in ipairs(entries.outbox) do
    local seq = next_seq()
    redis.call('ZADD', q.o, seq, member_of(seq, item))
  end
  return result
end

-- What nearly all jobs do: succeed at the first attempt and bring nothing but a result. Then the moving
-- part of the header decides alone, and what becomes of it; false if the long way must be gone.
local function succeeded(form, moving)
  local becomes = form.succeeded[moving]
  if becomes ~= nil then return becomes end
  local h = unpack_moving(moving)
  becomes = false
  if h.status == PROCESSING and h.fence == form.fence and h.attempts == 1
    and bit.band(h.flags, bit.bnot(HAS_KEY)) == LEASE_SPENT then
    unset(h, LEASE_SPENT)
    if form.mark then set(h, RESULT_DROPPED) end
    if form.has_text then set(h, HAS_DETAILS) end
    h.status, h.category, h.settled_fence = SUCCEEDED, 0, h.fence
    h.finished_at, h.updated_at, h.lease_until = now, now, -1
    becomes = pack_moving(h, h.worker_size)
  end
  form.succeeded[moving] = becomes
  return becomes
end

local forms = {}
for number = 1, number_arg() do forms[number] = read_form() end
local runs, of, ids, texts, failures, entryLists, count = {}, {}, {}, {}, {}, {}, 0
while at < #ARGV do
  local form, items = forms[number_arg()], number_arg()
  runs[#runs + 1] = { form = form, first = count + 1, last = count + items }
  local size = form.is_bare and number_arg() or 0
  local joined = size > 0 and arg()
  for item = 1, items do
    count = count + 1
    of[count] = form
    if joined then
      ids[count] = sub(joined, (item - 1) * size + 1, item * size)
    else
      ids[count] = arg()
      if form.has_text then texts[count] = arg() end
      if form.has_failure then failures[count] = arg() end
      if form.has_entries then entryLists[count] = read_entries() end
    end
  end
end
read_each_header(of, ids)
local results, now_text = {}, text_of(now)

-- The plain way is written out here: for a few hundred jobs, calls of functions are a tenth of the time.
local function settle_run(form, first, last)
  local q, is_plain = form.q, form.is_plain
  local kept, opened, written, shelf = q.packed, q.headers, q.written, shelf_of(q, SUCCEEDED)
  local gone, left = q.gone, q.left
  local moving, becomes
  for index = first, last do
    local id = ids[index]
    local packed = is_plain and not opened[id] and kept[id]
    -- Most begin as the one before.
    if packed and (not moving or find(packed, moving, 1, true) ~= 1) then
      moving = sub(packed, 1, MOVING_SIZE)
      becomes = succeeded(form, moving)
    end
    if packed and becomes then
      local member, group = age_in(packed) .. id, group_in(packed)
      packed = becomes .. sub(packed, MOVING_SIZE + 1)
      kept[id] = packed
      local size = #written
      written[size + 1], written[size + 2] = id, packed
      size = #shelf
      shelf[size + 1], shelf[size + 2] = now_text, member
      gone[#gone + 1] = member
      left[group] = (left[group] or 0) + 1
      if texts[index] then add(q.results, 'r' .. id, texts[index]) end
      results[index] = FINISHED
    else
      results[index] = settle_at_length(form, id, texts[index], failures[index] or '', entryLists[index])
    end
  end
  if #gone > 0 then slot_freed(q) end
end

for _, run in ipairs(runs) do settle_run(run.form, run.first, run.last) end
write_added()
write_all()
return { made, woken(), table.concat(results) }
