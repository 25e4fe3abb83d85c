-- A queue's keys, its ring of lines, and the places a job can stand in:
--
--   r:<group>  ready, by priority and age        d  delayed, by due time
--   a          processing, by end of lease       f:<status>  finished, by when
--
-- A job stands in exactly one of them, and always in `i`, by age. So nothing needs to be counted:
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
    ho = base .. 'ho', o = base .. 'o', r = base .. 'r:', f = base .. 'f:', headers = {}, dirty = {}, ready = {},
    gone = {}, left = {}, ended = {}, added_order = {}, added_bodies = {} }
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
-- which costs the server a third of two hundred commands.
local function header_of(q, id)
  local h = q.headers[id]
  if h == nil then
    local packed = redis.call('HGET', q.h, id)
    h = packed and unpack_header(packed)
    q.headers[id] = h
  end
  return h or nil
end
local function read_headers(q, ids)
  local found = redis.call('HMGET', q.h, unpack(ids))
  for index, id in ipairs(ids) do
    if q.headers[id] == nil then q.headers[id] = found[index] and unpack_header(found[index]) end
  end
end
local function save_header(q, id, h)
  q.headers[id] = h
  q.dirty[id] = true
end
local function forget_header(q, id)
  q.headers[id] = false
  q.dirty[id] = nil
  redis.call('HDEL', q.h, id)
end

-- A queue exists from its first job or setting on. Answers whether it is new. On one server the store
-- (`{hf}:`) lists its queues (`{hf:mail}:`) here; in a cluster its driver's side does.
local function make_queue(q)
  if redis.call('HSETNX', q.m, 'made', '1') == 0 then return false end
  if root ~= q.base then redis.call('SADD', root .. 'q', string.sub(q.base, #root, -3)) end
  return true
end

local function is_made(q)
  return redis.call('HEXISTS', q.m, 'made') == 1
end

-- Whether somebody went away from this queue with less than it asked for; who asks will tell them.
local function take_hunger(q)
  return redis.call('HDEL', q.m, 'hungry') == 1
end

local function virtual_time(q)
  if not q.vt then q.vt = tonumber(redis.call('HGET', q.m, 'vt')) or 0 end
  return q.vt
end

local function wait_turn(q, group)
  redis.call('ZADD', q.g, virtual_time(q), group)
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
  redis.call('ZADD', q.g, math.max(tonumber(pass) or 0, virtual_time(q)), group)
end

local function add(list, first, second)
  list[#list + 1] = first
  list[#list + 1] = second
end

local function stand_ready(q, id, h)
  local line = q.ready[h.group]
  if not line then
    line = {}
    q.ready[h.group] = line
  end
  add(line, h.priority, h.member or member_of(h.seq, id))
end

-- Writes the jobs that have become ready. A line that was empty gets a turn.
local function write_ready(q)
  for group, jobs in pairs(q.ready) do
    local added = redis.call('ZADD', q.r .. group, unpack(jobs))
    if redis.call('ZCARD', q.r .. group) == added then wait_turn(q, group) end
  end
  q.ready = {}
end

-- A queued job stands in its line once it is due, and among the delayed before.
local function stand_in_line(q, id, h)
  if h.run_at <= now then
    stand_ready(q, id, h)
  else
    redis.call('ZADD', q.d, h.run_at, member_of(h.seq, id))
  end
  if h.run_at <= now + 1000 then q.wakes = true end
end

local function leave_line(q, id, h)
  local member = member_of(h.seq, id)
  if redis.call('ZREM', q.d, member) == 1 then return end
  local line = q.r .. h.group
  redis.call('ZREM', line, member)
  if redis.call('EXISTS', line) == 1 then return end
  leave_ring(q, h.group)
  drop_if_idle(q, h.group)
end

-- Its slot is free again.
local function leave_lease(q, id, h)
  q.wakes = true
  h.member = h.member or member_of(h.seq, id)
  q.gone[#q.gone + 1] = h.member
  q.left[h.group] = (q.left[h.group] or 0) + 1
end

-- A line that was full may go on; one without any jobs goes.
local function write_left(q)
  if #q.gone == 0 then return end
  redis.call('ZREM', q.a, unpack(q.gone))
  local has_full = redis.call('EXISTS', q.gf) == 1
  for group, count in pairs(q.left) do
    if redis.call('HINCRBY', q.la, group, -count) <= 0 then
      redis.call('HDEL', q.la, group)
      drop_if_idle(q, group)
    end
    if has_full and redis.call('ZSCORE', q.gf, group) then unpark(q, group) end
  end
end

local function stand_finished(q, id, h)
  local letter = STATUS_LETTER[h.status]
  local shelf = q.ended[letter]
  if not shelf then
    shelf = {}
    q.ended[letter] = shelf
  end
  add(shelf, h.finished_at, h.member or member_of(h.seq, id))
end

local function leave_finished(q, id, h)
  redis.call('ZREM', q.f .. STATUS_LETTER[h.status], member_of(h.seq, id))
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
  for _, id in ipairs(ids) do stand_ready(q, id, header_of(q, id)) end
  write_ready(q)
end

-- Writes what the script has gathered. Every script that changes jobs ends with this.
local function write_all()
  for _, q in pairs(queues) do
    local written = {}
    for id in pairs(q.dirty) do add(written, id, pack_header(q.headers[id])) end
    if #written > 0 then redis.call('HSET', q.h, unpack(written)) end
    for letter, shelf in pairs(q.ended) do redis.call('ZADD', q.f .. letter, unpack(shelf)) end
    write_ready(q)
    write_left(q)
  end
  save_clock()
end

-- The queues to wake: somebody is hungry there, and there may be work now.
local function woken()
  local names = {}
  for _, q in pairs(queues) do
    if q.wakes and take_hunger(q) then names[#names + 1] = q.index end
  end
  return names
end
