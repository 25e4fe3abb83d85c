-- Adding one job, for insert and for the jobs that a settle spawns. The order of the questions is
-- part of the promise: id, then key, then room.
local DUPLICATE, CONFLICT, FULL, PRUNED = 1, 2, 3, 0

-- Is there a job of this id in this queue, or was there? Its status, or PRUNED.
local function status_of(q, id)
  local h = q.headers[id]
  if h then return h.status end
  local packed = packed_of(q, id)
  if packed then return status_in(packed) end
  if q.has_tombs == nil then q.has_tombs = redis.call('EXISTS', q.t) == 1 end
  return q.has_tombs and remembered(q, id) and PRUNED or nil
end

-- Asks all queues of the store, those of this call among them, for these ids. In a cluster they are
-- elsewhere, and its driver's side asks them.
local function ask_every_queue(ids)
  for _, name in ipairs(redis.call('SMEMBERS', root .. 'q')) do
    queue_named(name)
  end
  for _, q in pairs(queues) do read_headers(q, ids) end
end

-- Why a job of this id and key (nil: none) cannot be added: outcome, id, status; nil if it can.
local function refusal_of(q, id, key, elsewhere)
  local status = status_of(q, id)
  if not status and elsewhere then
    for _, other in pairs(queues) do
      status = status or status_of(other, id)
    end
  end
  if status then return { DUPLICATE, id, status } end
  local holder = key and key_holder(q, key.key)
  if not holder then return nil end
  local outcome = holder.hash == key.hash and DUPLICATE or CONFLICT
  return { outcome, holder.id, status_of(q, holder.id) or PRUNED }
end

local function waiting_in(q)
  return redis.call('ZCARD', q.i) + #q.added_order / 2 - redis.call('ZCARD', q.a) - redis.call('ZCARD', q.f .. 's')
    - redis.call('ZCARD', q.f .. 'd') - redis.call('ZCARD', q.f .. 'c')
end

-- Lists the job. Its place is for the caller to say.
local made = {}
local function add_job(q, id, seq, body)
  if not q.is_made then
    q.is_made = true
    if make_queue(q) then made[#made + 1] = q.index end
  end
  if q.has_tombs then redis.call('HDEL', q.t, id) end
  if #body > SMALL then q.last_large = seq end
  local order, bodies = q.added_order, q.added_bodies
  -- The server would print a number with all the digits of a fraction, which takes longer.
  order[#order + 1] = format('%d', seq)
  order[#order + 1] = id
  bodies[#bodies + 1] = id
  bodies[#bodies + 1] = body
end

local function write_added()
  for _, q in pairs(queues) do
    if #q.added_order > 0 then
      redis.call('ZADD', q.i, unpack(q.added_order))
      redis.call('HSET', q.b, unpack(q.added_bodies))
      if q.last_large then note_large(q, q.last_large) end
      q.added_order, q.added_bodies = {}, {}
    end
  end
end

-- Key, hash and lifetime: KEPT, UNTIL_FINISHED, or so many milliseconds.
local UNTIL_FINISHED = -2
local function read_key_args()
  local key = { key = arg(), hash = arg(), lifetime = number_arg(), flags = HAS_KEY }
  if key.lifetime == UNTIL_FINISHED then key.lifetime, key.flags = KEPT, HAS_KEY + ENDS_KEY end
  return key
end

-- ── new jobs ────────────────────────────────────────────────────────────────────────────────────
-- Most jobs of a call differ in id and payload only. What they share is a shape: it comes once, and
-- their headers are made once but for the running number. Driver's side: new-job-args.ts.
--
-- Arguments: counted shapes (queue, group, type, priority, maxAttempts, tags, runAt or "", delayMs, has
-- key 0|1), then counted runs of jobs of one shape: the number of the shape, how many, and of each: id,
-- body, and if so key, hash, lifetime.

-- The header of a new job of this shape, in front of its running number and behind it.
local function dress(shape, key)
  local h = shape.h
  h.flags, h.lifetime = key and key.flags or 0, key and key.lifetime or KEPT
  h.flags = h.flags + wide_flag(h.priority)
  h.extra = pack_extra(shape.tags, key and key.key, key and key.hash, h.priority)
  return pack_moving(h, 0), pack_stays(h)
end

local function read_shape()
  local shape, h = { q = queue_at(number_arg()) }, new_header()
  h.group, h.type, shape.priority, h.max_attempts, shape.tags = arg(), arg(), arg(), number_arg(), arg()
  h.priority = tonumber(shape.priority)
  local run_at, delay_ms = tonumber(arg()), number_arg()
  h.run_at = run_at or instant_after(delay_ms)
  shape.h, shape.has_key = h, arg() == '1'
  shape.before, shape.after = dress(shape)
  return shape
end

local function read_new_jobs()
  local jobs, by_number = { shapes = {}, ids = {}, bodies = {}, keys = {} }, {}
  local shapes, ids, bodies, count = jobs.shapes, jobs.ids, jobs.bodies, 0
  for number = 1, number_arg() do by_number[number] = read_shape() end
  for _ = 1, number_arg() do
    local shape = by_number[number_arg()]
    for _ = 1, number_arg() do
      count = count + 1
      shapes[count], ids[count], bodies[count] = shape, ARGV[at + 1], ARGV[at + 2]
      at = at + 2
      if shape.has_key then jobs.keys[count] = read_key_args() end
    end
  end
  return jobs
end

-- Answers why it was not added, or nil.
local function insert_one(jobs, index, even_if_full, elsewhere)
  local shape, id, key = jobs.shapes[index], jobs.ids[index], jobs.keys[index]
  local q = shape.q
  local refusal = refusal_of(q, id, key, elsewhere)
  if refusal then return refusal end
  if not even_if_full then
    local max_waiting = kept_of(q).max_waiting
    if max_waiting and waiting_in(q) >= max_waiting then return { FULL, '', max_waiting } end
  end
  local seq = next_seq()
  local age, before, after = age_of(seq), shape.before, shape.after
  if key then before, after = dress(shape, key) end
  add_job(q, id, seq, jobs.bodies[index])
  save_packed(q, id, before .. age .. after)
  place(q, shape.h.group, shape.priority, shape.h.run_at, age .. id)
  if key then take_key(q, id, header_of(q, id)) end
  return nil
end
