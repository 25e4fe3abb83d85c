-- A queue's keys, its ring of lines, and the places a job can have:
--
--   r:<group>  ready, by priority and age        d  delayed, by due time
--   a          processing, by end of lease       f:<status>  finished, by when
--
-- A job is in exactly one of them, and always in `i`, by age. So nothing needs to be counted:
-- what is ready is what is in `i` and nowhere else.
--
-- The ring `g` holds the lines with ready jobs by their virtual time: a line that gives jobs moves
-- back by what it gave, divided by its weight. A line that is found held is parked in `gp` until its
-- hold ends, one that is found full in `gf` until a job of it leaves; so they cost nothing meanwhile.
local STATUS_LETTER = { [SUCCEEDED] = 's', [DEAD] = 'd', [CANCELLED] = 'c' }

local queues = {}
local function queue_of(base)
  local known = queues[base]
  if known then return known end
  local q = { base = base, h = base .. 'h', b = base .. 'b', x = base .. 'x', i = base .. 'i',
    d = base .. 'd', a = base .. 'a', k = base .. 'k', ke = base .. 'ke', t = base .. 't',
    te = base .. 'te', m = base .. 'm', n = base .. 'n', g = base .. 'g', gp = base .. 'gp',
    gf = base .. 'gf', la = base .. 'la', lm = base .. 'lm', lw = base .. 'lw', hu = base .. 'hu',
    ho = base .. 'ho', o = base .. 'o', w = base .. 'w', r = base .. 'r:', f = base .. 'f:', packed = {},
    headers = {}, dirty = {}, written = {}, ready = {}, gone = {}, left = {}, ended = {}, results = {},
    added_order = {}, added_bodies = {} }
  queues[base] = q
  return q
end
local numbered = {}
local function queue_at(index)
  local q = numbered[index]
  if not q then
    q = queue_of(KEYS[index + 1])
    q.index = index
    numbered[index] = q
  end
  return q
end

-- Headers are read once and written once, at the end of the script: of two hundred jobs in one command,
-- which costs the server a third of two hundred commands. `packed` has them as they are kept, false for
-- a job that is not there; `headers` those that were opened, and from then on only those count.
local function packed_of(q, id)
  local packed = q.packed[id]
  if packed == nil then
    packed = redis.call('HGET', q.h, id)
    q.packed[id] = packed
  end
  return packed
end
local function header_of(q, id)
  local h = q.headers[id]
  if h then return h end
  local packed = packed_of(q, id)
  if not packed then return nil end
  h = unpack_header(packed)
  q.headers[id] = h
  return h
end
local function read_headers(q, ids)
  local packed = q.packed
  for index, found in ipairs(redis.call('HMGET', q.h, unpack(ids))) do
    local id = ids[index]
    if packed[id] == nil then packed[id] = found end
  end
end
-- Of many queues; of[index] has the queue of ids[index] as its `q`.
local function read_each_header(of, ids)
  if #KEYS == 2 then return #ids > 0 and read_headers(queue_at(1), ids) end
  local by_queue = {}
  for index, id in ipairs(ids) do
    local q = of[index].q
    by_queue[q] = by_queue[q] or {}
    local own = by_queue[q]
    own[#own + 1] = id
  end
  for q, own in pairs(by_queue) do read_headers(q, own) end
end
local function save_header(q, id, h)
  q.headers[id] = h
  q.dirty[id] = true
end
-- Without opening it: only for a job that nobody has opened.
local function save_packed(q, id, packed)
  local written = q.written
  q.packed[id] = packed
  written[#written + 1] = id
  written[#written + 1] = packed
end
local function forget_header(q, id)
  q.headers[id] = nil
  q.packed[id] = false
  q.dirty[id] = nil
  redis.call('HDEL', q.h, id)
end

-- What is kept of the queue itself, read once. `vt` is the turn of the line that was served last.
local function kept_of(q)
  local kept = q.kept
  if kept then return kept end
  local found = redis.call('HMGET', q.m, 'made', 'hungry', 'vt', 'maxActive', 'maxPerGroup',
    'maxWaiting', 'heldUntil', 'large')
  kept = { made = found[1], hungry = found[2], vt = tonumber(found[3]) or 0,
    max_active = tonumber(found[4]), max_per_group = tonumber(found[5]),
    max_waiting = tonumber(found[6]), held_until = tonumber(found[7]),
    large = tonumber(found[8]) or 0 }
  q.kept = kept
  return kept
end

-- A queue exists from its first job or setting on. Answers whether it is new. On one server the store
-- (`{hf}:`) lists its queues (`{hf:mail}:`) here; in a cluster its driver's side does.
local function make_queue(q)
  local kept = kept_of(q)
  if kept.made then return false end
  kept.made = '1'
  redis.call('HSET', q.m, 'made', '1')
  if root ~= q.base then redis.call('SADD', root .. 'q', sub(q.base, #root, -3)) end
  return true
end

local function is_made(q)
  return kept_of(q).made
end

-- The jobs up to `large`, by their running number, may have a body over SMALL. All others are small: a
-- lease that is bounded in bytes need not ask for their sizes.
local SMALL = 4096
local function note_large(q, seq)
  local kept = kept_of(q)
  if seq <= kept.large then return end
  kept.large = seq
  redis.call('HSET', q.m, 'large', text_of(seq))
end

-- Whether somebody went away from this queue with less than it asked for; who asks will tell them.
local function take_hunger(q)
  return kept_of(q).hungry and redis.call('HDEL', q.m, 'hungry') == 1
end

local function wait_turn(q, group)
  redis.call('ZADD', q.g, text_of(kept_of(q).vt), group)
  redis.call('ZADD', q.n, 0, group)
end

-- Lines come and go with their jobs, or a million groups seen once would stay for ever.
local function drop_if_idle(q, group)
  if redis.call('EXISTS', q.r .. group) == 1 or redis.call('HEXISTS', q.la, group) == 1
    or redis.call('HEXISTS', q.lm, group) == 1 or redis.call('HEXISTS', q.lw, group) == 1
    or redis.call('HEXISTS', q.ho, group) == 1 then return end
  redis.call('ZREM', q.n, group)
end

local function leave_ring(q, group)
  redis.call('ZREM', q.g, group)
  redis.call('ZREM', q.gp, group)
  redis.call('ZREM', q.gf, group)
end

-- What kept a line out of the ring may be over: it is looked at again.
local function unpark(q, group)
  local pass = redis.call('ZSCORE', q.gf, group)
  if pass then
    redis.call('ZREM', q.gf, group)
  elseif redis.call('ZREM', q.gp, group) == 0 then
    return
  end
  redis.call('ZADD', q.g, math.max(tonumber(pass) or 0, kept_of(q).vt), group)
end

local function add(list, first, second)
  list[#list + 1] = first
  list[#list + 1] = second
end

local function place_ready(q, group, priority, member)
  local line = q.ready[group]
  if not line then
    line = {}
    q.ready[group] = line
  end
  line[#line + 1] = priority
  line[#line + 1] = member
end

-- Writes the jobs that have become ready. A line that was empty gets a turn.
local function write_ready(q)
  for group, jobs in pairs(q.ready) do
    local added = redis.call('ZADD', q.r .. group, unpack(jobs))
    if redis.call('ZCARD', q.r .. group) == added then wait_turn(q, group) end
  end
  q.ready = {}
end

-- A queued job is placed in its line once it is due, and among the delayed before.
local function place(q, group, priority, run_at, member)
  if run_at <= now then
    place_ready(q, group, priority, member)
  else
    redis.call('ZADD', q.d, run_at, member)
  end
  if run_at <= now + 1000 then q.wakes = true end
end
local function place_in_line(q, id, h)
  place(q, h.group, h.priority, h.run_at, h.age .. id)
end

local function leave_line(q, id, h)
  local member = h.age .. id
  if redis.call('ZREM', q.d, member) == 1 then return end
  local line = q.r .. h.group
  redis.call('ZREM', line, member)
  if redis.call('EXISTS', line) == 1 then return end
  leave_ring(q, h.group)
  drop_if_idle(q, h.group)
end

-- A slot is free again. That makes work for others only where a cap kept it from them.
local function slot_freed(q)
  if q.wakes then return end
  local kept = kept_of(q)
  if kept.max_active or kept.max_per_group or redis.call('EXISTS', q.lm) == 1 then q.wakes = true end
end

local function leave_lease(q, group, member)
  slot_freed(q)
  q.gone[#q.gone + 1] = member
  q.left[group] = (q.left[group] or 0) + 1
end

-- Counts jobs of lines that are leased now, or no more (sign -1). Answers the lines that have none.
local function change_active(q, by_group, sign)
  local groups, counts, idle = {}, {}, {}
  for group in pairs(by_group) do groups[#groups + 1] = group end
  for index, active in ipairs(redis.call('HMGET', q.la, unpack(groups))) do
    local group = groups[index]
    local count = (tonumber(active) or 0) + sign * by_group[group]
    if count > 0 then add(counts, group, format('%d', count)) else idle[#idle + 1] = group end
  end
  if #counts > 0 then redis.call('HSET', q.la, unpack(counts)) end
  if #idle > 0 then redis.call('HDEL', q.la, unpack(idle)) end
  return idle
end

-- A line that was full may go on; one without any jobs goes.
local function write_left(q)
  if #q.gone == 0 then return end
  redis.call('ZREM', q.a, unpack(q.gone))
  local has_settings = redis.call('EXISTS', q.lm, q.lw, q.ho) > 0
  for _, group in ipairs(change_active(q, q.left, -1)) do
    if has_settings then drop_if_idle(q, group)
    elseif redis.call('EXISTS', q.r .. group) == 0 then redis.call('ZREM', q.n, group) end
  end
  if redis.call('EXISTS', q.gf) == 0 then return end
  for group in pairs(q.left) do
    if redis.call('ZSCORE', q.gf, group) then unpark(q, group) end
  end
end

-- What is placed among the finished: when, and the job.
local function shelf_of(q, status)
  local shelf = q.ended[status]
  if not shelf then
    shelf = {}
    q.ended[status] = shelf
  end
  return shelf
end
local function place_finished(q, status, finished_at, member)
  add(shelf_of(q, status), finished_at, member)
end

local function leave_finished(q, id, h)
  redis.call('ZREM', q.f .. STATUS_LETTER[h.status], h.age .. id)
end

-- Lets due jobs into their lines, at most so many. Nobody can tell when it happens: their place was
-- fixed at the insert.
local function move_due(q, at_most)
  local due = redis.call('ZRANGEBYSCORE', q.d, '-inf', text_of(now), 'LIMIT', 0, at_most)
  if #due == 0 then return end
  local ids = {}
  for index, member in ipairs(due) do ids[index] = id_of(member) end
  redis.call('ZREM', q.d, unpack(due))
  read_headers(q, ids)
  for index, id in ipairs(ids) do
    local h = header_of(q, id)
    place_ready(q, h.group, h.priority, due[index])
  end
  write_ready(q)
end

-- Writes what the script has gathered. Every script that changes jobs ends with this.
local function write_all()
  for _, q in pairs(queues) do
    local written = q.written
    for id in pairs(q.dirty) do add(written, id, pack_header(q.headers[id])) end
    if #written > 0 then redis.call('HSET', q.h, unpack(written)) end
    if #q.results > 0 then redis.call('HSET', q.x, unpack(q.results)) end
    for status, shelf in pairs(q.ended) do
      if #shelf > 0 then redis.call('ZADD', q.f .. STATUS_LETTER[status], unpack(shelf)) end
    end
    write_ready(q)
    write_left(q)
  end
  save_clock()
end

-- The queues to wake: somebody is hungry there, and there may be work now. Everybody hears of it, so nobody
-- counts as hungry any more.
local function woken()
  local names = {}
  for _, q in pairs(queues) do
    if q.wakes and take_hunger(q) then names[#names + 1] = q.index end
  end
  return names
end

-- The same after an insert. Only as many as there are new jobs come for it, so the others stay hungry: or
-- what is inserted before those have asked would be told to nobody.
local function woken_in_part()
  local names = {}
  for _, q in pairs(queues) do
    if q.wakes and kept_of(q).hungry then names[#names + 1] = q.index end
  end
  return names
end
