-- Adding one job, for insert and for the jobs that a settle spawns. The order of the questions is
-- part of the promise: id, then key, then room.
local ADDED, DUPLICATE, CONFLICT, FULL, PRUNED = 0, 1, 2, 3, 0

-- Is there a job of this id in this queue, or was there? Its status, or PRUNED.
local function status_of(q, id)
  local h = header_of(q, id)
  if h then return h.status end
  if q.has_tombs == nil then q.has_tombs = redis.call('EXISTS', q.t) == 1 end
  return q.has_tombs and remembered(q, id) and PRUNED or nil
end

-- Asks all queues of the store, those of this call among them, for these ids. In a cluster they are
-- elsewhere, and its driver's side asks them.
local function ask_every_queue(ids)
  for _, name in ipairs(redis.call('SMEMBERS', root .. 'q')) do
    queue_of(string.sub(root, 1, -3) .. ':' .. name .. '}:')
  end
  for _, q in pairs(queues) do read_headers(q, ids) end
end

-- Why a job of this id and key cannot be added: outcome, id, status; nil if it can.
local function refusal_of(q, id, h, elsewhere)
  local status = status_of(q, id)
  if not status and elsewhere then
    for _, other in pairs(queues) do
      status = status or status_of(other, id)
    end
  end
  if status then return { DUPLICATE, id, status } end
  if not has(h, HAS_KEY) then return nil end
  local holder = key_holder(q, h.key)
  if not holder then return nil end
  local outcome = holder.hash == h.hash and DUPLICATE or CONFLICT
  return { outcome, holder.id, status_of(q, holder.id) or PRUNED }
end

local function waiting_in(q)
  return redis.call('ZCARD', q.i) + #q.added_order / 2 - redis.call('ZCARD', q.a) - redis.call('ZCARD', q.f .. 's')
    - redis.call('ZCARD', q.f .. 'd') - redis.call('ZCARD', q.f .. 'c')
end

-- Lists the job and takes its key. Where it stands is for the caller to say.
local made = {}
local function add_job(q, id, h, body)
  if not q.is_made then
    q.is_made = true
    if make_queue(q) then made[#made + 1] = q.index end
  end
  if q.has_tombs then redis.call('HDEL', q.t, id) end
  add(q.added_order, h.seq, id)
  add(q.added_bodies, id, body)
  take_key(q, id, h)
end

local function write_added()
  for _, q in pairs(queues) do
    if #q.added_order > 0 then
      redis.call('ZADD', q.i, unpack(q.added_order))
      redis.call('HSET', q.b, unpack(q.added_bodies))
      q.added_order, q.added_bodies = {}, {}
    end
  end
end

-- What is the same in every job that comes from outside.
local function read_job_args(h)
  h.group, h.type, h.priority = ARGV[at + 1], ARGV[at + 2], ARGV[at + 3] + 0
  h.max_attempts, h.tags = ARGV[at + 4] + 0, ARGV[at + 5]
  at = at + 5
  if arg() == '1' then
    set(h, HAS_KEY)
    h.key, h.hash, h.lifetime = arg(), arg(), number_arg()
  end
  pack_rest(h)
end

-- The arguments of one new job; driver's side: args.ts.
local function read_new_job()
  local job = { q = queue_at(ARGV[at + 1] + 0), id = ARGV[at + 2], h = new_header(), body = nil }
  at = at + 2
  read_job_args(job.h)
  job.h.run_at = tonumber(ARGV[at + 1]) or instant_after(ARGV[at + 2] + 0)
  job.body = ARGV[at + 3]
  at = at + 3
  return job
end

local function insert_one(job, even_if_full, elsewhere)
  local q, id, h = job.q, job.id, job.h
  local refusal = refusal_of(q, id, h, elsewhere)
  if refusal then return refusal end
  if not even_if_full then
    if q.max_waiting == nil then
      q.max_waiting = tonumber(redis.call('HGET', q.m, 'maxWaiting')) or false
    end
    if q.max_waiting and waiting_in(q) >= q.max_waiting then return { FULL, '', q.max_waiting } end
  end
  h.seq = next_seq()
  add_job(q, id, h, job.body)
  save_header(q, id, h)
  stand_in_line(q, id, h)
  return { ADDED, id, 0 }
end
