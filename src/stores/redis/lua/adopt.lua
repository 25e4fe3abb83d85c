#!lua
-- Stores whole jobs from elsewhere, as they are. What stays behind is their lease and with it the
-- memory of their last settle; the fence still only grows from here.
--
-- KEYS     root, then the queues
-- ARGV     clock; ask the other queues whether they know an id 0|1;
--          jobs: queue, id, group, type, priority, maxAttempts, tags, key; status, attempts, crashes,
--          fence, category, createdAt, runAt, startedAt, finishedAt (-1: now), body, then counted
--          lists: details (letter, text), steps (name, value), logs (line), history (packed)
-- returns  as insert
-- include: clock header queue job insert-one
local elsewhere = arg() == '1'
local reply = {}

local function read_list(width)
  local list = {}
  for item = 1, number_arg() do
    list[item] = { arg(), width == 2 and arg() or nil }
  end
  return list
end

local function adopt_one()
  local q, id, h = queue_at(number_arg()), arg(), new_header()
  read_job_args(h)
  h.status, h.attempts, h.crashes, h.fence = number_arg(), number_arg(), number_arg(), number_arg()
  h.category, h.created_at, h.run_at = number_arg(), number_arg(), number_arg()
  h.started_at, h.finished_at = number_arg(), number_arg()
  local body, details, steps = arg(), read_list(2), read_list(2)
  local logs, history = read_list(1), read_list(1)
  if elsewhere then ask_every_queue({ id }) end
  local refusal = refusal_of(q, id, h, elsewhere)
  if refusal then return refusal end
  h.seq = next_seq()
  add_job(q, id, h, body)
  for _, detail in ipairs(details) do set_detail(q, id, h, detail[1], detail[2]) end
  for _, step in ipairs(steps) do add_step(q, id, h, step[1], step[2]) end
  for _, line in ipairs(logs) do
    redis.call('RPUSH', q.base .. 'l:' .. id, line[1])
    set(h, HAS_LOGS)
  end
  for _, attempt in ipairs(history) do
    redis.call('RPUSH', q.base .. 'y:' .. id, attempt[1])
    set(h, HAS_HISTORY)
  end
  if h.status == QUEUED then
    h.finished_at = -1
    stand_in_line(q, id, h)
  else
    if h.finished_at < 0 then h.finished_at = now end
    stand_finished(q, id, h)
  end
  save_header(q, id, h)
  return { ADDED, id, 0 }
end

while at < #ARGV do
  local result = adopt_one()
  for part = 1, 3 do reply[#reply + 1] = result[part] end
end
write_added()
write_all()
return { made, woken(), reply }
