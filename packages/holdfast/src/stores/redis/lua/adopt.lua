#!lua
-- Stores whole jobs from elsewhere, as they are. What stays behind is their lease and with it the
-- memory of their last settle; the fence still only grows from here.
--
-- KEYS     root, then the queues
-- ARGV     clock; ask the other queues whether they know an id 0|1;
--          jobs: queue, id, group, type, priority, maxAttempts, tags, has key 0|1 (and then key, hash,
--          lifetime), status, attempts, crashes, fence, category, createdAt, runAt, startedAt,
--          finishedAt (-1: now), body, then counted lists: details (letter, text), steps (name, value),
--          logs (line), history (packed)
-- returns  as insert
-- include: clock header queue ring places job insert-one
local elsewhere = arg() == '1'
local refused = {}

local function read_list(width)
  local list = {}
  for item = 1, number_arg() do
    list[item] = { arg(), width == 2 and arg() or nil }
  end
  return list
end

local function adopt_one()
  local q, id, h = queue_at(number_arg()), arg(), new_header()
  h.group, h.type, h.priority, h.max_attempts = arg(), arg(), number_arg(), number_arg()
  local tags, key = arg(), arg() == '1' and read_key_args() or nil
  if key then h.flags, h.lifetime = key.flags, key.lifetime end
  h.flags = h.flags + wide_flag(h.priority)
  h.extra = pack_extra(tags, key and key.key, key and key.hash, h.priority)
  h.status, h.attempts, h.crashes, h.fence = number_arg(), number_arg(), number_arg(), number_arg()
  h.category, h.created_at, h.run_at = number_arg(), number_arg(), number_arg()
  h.started_at, h.finished_at, h.updated_at = number_arg(), number_arg(), now
  local body, details, steps = arg(), read_list(2), read_list(2)
  local logs, history = read_list(1), read_list(1)
  if elsewhere then ask_every_queue({ id }) end
  local refusal = refusal_of(q, id, key, elsewhere)
  if refusal then return refusal end
  local seq = next_seq()
  h.age = age_of(seq)
  add_job(q, id, seq, body)
  take_key(q, id, h)
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
    place_in_line(q, id, h)
  else
    if h.finished_at < 0 then h.finished_at = now end
    place_finished(q, id, h)
  end
  save_header(q, id, h)
  return nil
end

local count = 0
while at < #ARGV do
  local refusal = adopt_one()
  count = count + 1
  if refusal then
    refused[#refused + 1] = count
    for part = 1, 3 do refused[#refused + 1] = refusal[part] end
  end
end
write_added()
write_all()
return { made, woken(), refused }
