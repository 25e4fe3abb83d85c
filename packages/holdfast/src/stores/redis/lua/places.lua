-- The places a job can have:
--
--   r:<group>  ready, by priority and age        d  delayed, by due time
--   a          processing, by end of lease       f:<status>  finished, by when
--
-- A job is in exactly one of them, and always in `i`, by age. So nothing needs to be counted:
-- what is ready is what is in `i` and nowhere else.
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
  -- `WAKE_AHEAD_MS` of `core/line.ts`
  if run_at <= now + 5000 then q.wakes = true end
end

-- `rt` has the queued jobs with attempts behind them, by their running number. Others pay nothing for it.
local function place_in_line(q, id, h)
  if h.attempts > 0 then redis.call('ZADD', q.rt, seq_of(h.age), id) end
  place(q, h.group, h.priority, h.run_at, h.age .. id)
end

local function leave_line(q, id, h)
  local member = h.age .. id
  if h.attempts > 0 then redis.call('ZREM', q.rt, id) end
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
  local is_capped = kept.max_active or kept.max_per_group
  if is_capped or (has_settings(q) and redis.call('EXISTS', q.lm) == 1) then q.wakes = true end
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
  drop_idle(q, change_active(q, q.left, -1))
  reopen_full(q, q.left)
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

-- What is looked for among many others is listed a second time: dead and cancelled jobs by their running
-- number in `z:<status>`; dead ones also by what they have in common, `dk:<letter><word>` by when they died,
-- and how many have each word in `dn:<letter>`. f fingerprint, c category, t type, g group. A word has "+" in
-- front; "-" is none. Jobs that succeed pay nothing for it.
local function failure_words(q, id, h)
  local text = has(h, HAS_DETAILS) and redis.call('HGET', q.x, 'e' .. id)
  local failure = text and cjson.decode(text) or {}
  local function word(value) return type(value) == 'string' and '+' .. value or '-' end
  return { f = word(failure.fingerprint), c = word(failure.category), t = '+' .. h.type, g = '+' .. h.group }
end
local function change_dead(q, id, h, is_dead)
  local member = h.age .. id
  for letter, word in pairs(failure_words(q, id, h)) do
    local key = q.dk .. letter .. word
    if is_dead then redis.call('ZADD', key, text_of(h.finished_at), member)
    else redis.call('ZREM', key, member) end
    local count = redis.call('ZCARD', key)
    if count > 0 then redis.call('ZADD', q.dn .. letter, count, word)
    else redis.call('ZREM', q.dn .. letter, word) end
  end
end

local function list_ended(q, id, h)
  if h.status == SUCCEEDED then return end
  redis.call('ZADD', q.z .. STATUS_LETTER[h.status], seq_of(h.age), id)
  if h.status == DEAD then change_dead(q, id, h, true) end
end

local function place_finished(q, id, h)
  add(shelf_of(q, h.status), text_of(h.finished_at), h.age .. id)
  list_ended(q, id, h)
end

local function leave_finished(q, id, h)
  redis.call('ZREM', q.f .. STATUS_LETTER[h.status], h.age .. id)
  if h.status == SUCCEEDED then return end
  redis.call('ZREM', q.z .. STATUS_LETTER[h.status], id)
  if h.status == DEAD then change_dead(q, id, h, false) end
end

-- On one server `{hf}:ra` has the queues with leases, each by a time before which none of them runs out. So
-- reaping looks at the queues where one may have. Of a cluster each queue is asked.
local function note_lease(q, lease_until)
  if root ~= q.base then redis.call('ZADD', root .. 'ra', 'LT', text_of(lease_until), name_of(q)) end
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
