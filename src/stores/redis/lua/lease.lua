#!lua flags=allow-oom
-- Hands out ready jobs of one queue: turns between its lines, priority and age inside a line.
--
-- KEYS     root, queue
-- ARGV     clock, worker, leaseMs, how many, how many of capped lines, does the caller want any of
--          capped lines 0|1
-- returns  { when to come back (text, "" if nothing is in sight), now, taken from capped lines,
--            { of those that have more: number of the job, checkpoint or false, steps or {}, … },
--            id, header, body, … }
-- include: clock header queue gates
local q = queue_at(1)
local worker, lease_ms, at_most = arg(), number_arg(), number_arg()
local capped_left, wants_capped = number_arg(), arg() == '1'

-- So many jobs of a line at a time: going through every line for each job costs twice as much, and
-- the virtual times keep it fair over a few calls.
local PACK = 4
-- So many lines are looked at in one call before the caller is sent home to come back at once.
local LOOK = 500

if not is_made(q) then
  -- Nobody knows the queue yet; whoever makes it is to know that somebody waits.
  if at_most > 0 then redis.call('HSET', q.m, 'hungry', '1') end
  return { '', now, 0, {} }
end
read_gates(q)

local ids, members, capped_taken = {}, {}, 0

local function take_from(group, count)
  local popped = redis.call('ZPOPMIN', q.r .. group, count)
  for index = 1, #popped, 2 do
    ids[#ids + 1] = id_of(popped[index])
    members[#members + 1] = popped[index]
  end
  local got = #popped / 2
  if got > 0 then redis.call('HINCRBY', q.la, group, got) end
  -- It stands in the ring, where it was found, and nowhere else.
  if got < count or redis.call('EXISTS', q.r .. group) == 0 then redis.call('ZREM', q.g, group) end
  return got
end

-- What is held for a time is looked at again when the time is over.
local function reopen_lines()
  local over = redis.call('ZRANGEBYSCORE', q.gp, '-inf', text_of(now), 'LIMIT', 0, 100)
  for _, group in ipairs(over) do unpark(q, group) end
end

-- One visit of the lines at the head of the ring. Answers false when there is nothing more to take.
-- A line that only the caller's own bound keeps us from stays where it is, for others.
local passed, passed_count = {}, 0

local function heads_of_ring(most)
  local heads = {}
  local found = redis.call('ZRANGE', q.g, 0, most + passed_count - 1, 'WITHSCORES')
  for index = 1, #found, 2 do
    if not passed[found[index]] then
      heads[#heads + 1] = found[index]
      heads[#heads + 1] = found[index + 1]
    end
  end
  return heads
end

local function take_turns(left)
  local heads = heads_of_ring(math.min(100, math.max(2, left)))
  if #heads == 0 then return 0, false end
  local weights, total = {}, 0
  for index = 1, #heads, 2 do
    weights[index] = line_weight(q, heads[index])
    total = total + weights[index]
  end
  local share = math.floor(left / total)
  local is_alone = #heads == 2 and passed_count == 0
  local taken = 0
  for index = 1, #heads, 2 do
    local group, pass = heads[index], tonumber(heads[index + 1])
    local slots, is_capped = open_slots(q, group, pass)
    if slots > 0 then
      if is_capped then slots = math.min(slots, capped_left) end
      local pack = is_alone and left or weights[index] * math.max(share, PACK)
      local got = 0
      if slots > 0 then got = take_from(group, math.min(left - taken, pack, slots)) end
      if is_capped then
        capped_left = capped_left - got
        capped_taken = capped_taken + got
      end
      taken = taken + got
      if got == 0 then
        passed[group] = true
        passed_count = passed_count + 1
      elseif not is_alone then
        q.vt = math.max(q.vt, pass)
        redis.call('ZADD', q.g, 'XX', pass + got / weights[index], group)
      end
    end
    if taken >= left then break end
  end
  return taken, true
end

local function room()
  if not q.max_active then return at_most end
  return math.min(at_most, q.max_active - redis.call('ZCARD', q.a))
end

local function next_due()
  return tonumber(redis.call('ZRANGE', q.d, 0, 0, 'WITHSCORES')[2]) or FOREVER
end

local vt, due_at = nil, FOREVER
if not q.held_until then
  due_at = next_due()
  if due_at <= now then
    move_due(q, math.max(200, 2 * at_most))
    due_at = next_due()
  end
  reopen_lines()
  vt = q.vt
  local left, looked = room(), 0
  while left > 0 and looked < LOOK do
    local taken, is_more = take_turns(left)
    if not is_more then break end
    left = left - taken
    looked = looked + 1
  end
end

-- ── start the attempts ──────────────────────────────────────────────────────────────────────────
local lease_until = instant_after(lease_ms)

-- What a lease makes of the moving part of a header; where what is in front of the old worker ends,
-- counted from the end; and what the job has elsewhere.
local function begin(moving)
  local h = unpack_moving(moving)
  unset(h, LEASE_SPENT)
  if h.attempts < h.max_attempts then
    h.attempts = h.attempts + 1
    set(h, LEASE_SPENT)
  end
  h.fence = fence_after(h.fence)
  h.status, h.riders_order = PROCESSING, 0
  h.started_at, h.updated_at, h.lease_until = now, now, lease_until
  return { moving = pack_moving(h, #worker), cut = -h.worker_size - 1,
    has_more = has(h, HAS_DETAILS) or has(h, HAS_STEPS), h = h }
end

local more = {}
local function add_more(index, id, h)
  more[#more + 1] = index
  more[#more + 1] = has(h, HAS_DETAILS) and redis.call('HGET', q.x, 'c' .. id) or false
  more[#more + 1] = has(h, HAS_STEPS) and redis.call('HGETALL', q.base .. 's:' .. id) or {}
end

local reply = { '', now, capped_taken, more }
if #ids > 0 then
  local headers, bodies = redis.call('HMGET', q.h, unpack(ids)), redis.call('HMGET', q.b, unpack(ids))
  local written, leased, begun = {}, {}, {}
  local until_text = text_of(lease_until)
  for index, id in ipairs(ids) do
    local packed = headers[index]
    local moving = sub(packed, 1, MOVING_SIZE)
    local became = begun[moving]
    if not became then
      became = begin(moving)
      begun[moving] = became
    end
    packed = became.moving .. sub(packed, MOVING_SIZE + 1, became.cut) .. worker
    local pair, row = 2 * index, 4 + 3 * index
    written[pair - 1], written[pair] = id, packed
    leased[pair - 1], leased[pair] = until_text, members[index]
    reply[row - 2], reply[row - 1], reply[row] = id, packed, bodies[index]
    if became.has_more then add_more(index, id, became.h) end
  end
  redis.call('HSET', q.h, unpack(written))
  redis.call('ZADD', q.a, unpack(leased))
end

-- ── when to come back ───────────────────────────────────────────────────────────────────────────
-- Now if a line is open, else when a job falls due or a hold ends. What is only full is not worth
-- coming back for: the settle that makes room sends a wakeup.

local function capped(group)
  return q.max_active ~= nil or line_cap(q, group) ~= nil
end

local function next_line_at()
  if not wants_capped and (q.max_active or q.max_per_group) then return FOREVER end
  local first, is_through = 0, false
  for _ = 1, LOOK do
    local heads = redis.call('ZRANGE', q.g, first, first, 'WITHSCORES')
    is_through = #heads == 0
    if is_through then break end
    if not wants_capped and capped(heads[1]) then
      first = first + 1
    elseif open_slots(q, heads[1], tonumber(heads[2])) > 0 then
      return now
    end
  end
  if not is_through and redis.call('ZCARD', q.g) > LOOK then return now end
  for first_held = 0, LOOK do
    local held = redis.call('ZRANGE', q.gp, first_held, first_held, 'WITHSCORES')
    if #held == 0 then return FOREVER end
    if wants_capped or not capped(held[1]) then return tonumber(held[2]) end
  end
  return FOREVER
end

local function come_back_at()
  if q.held_until then return q.held_until end
  if q.max_active and redis.call('ZCARD', q.a) >= q.max_active then
    return due_at > now and due_at or FOREVER
  end
  return math.min(due_at, next_line_at())
end

local back_at = come_back_at()
if back_at < FOREVER then reply[1] = text_of(math.max(0, back_at - now)) end
if at_most > 0 and #ids < at_most and not kept_of(q).hungry then
  redis.call('HSET', q.m, 'hungry', '1')
end
if vt and q.vt ~= vt then redis.call('HSET', q.m, 'vt', text_of(q.vt)) end
-- An idle worker that asks again and again writes nothing.
if #ids > 0 then save_clock() end
return reply
