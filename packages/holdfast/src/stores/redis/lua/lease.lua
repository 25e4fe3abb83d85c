#!lua flags=allow-oom
-- Hands out ready jobs of one queue: turns between its lines, priority and age inside a line.
--
-- KEYS     root, queue
-- ARGV     clock, worker, leaseMs, how many, how many of capped lines, does the caller want any of
--          capped lines 0|1, how many bytes of bodies or "", does the first job come whatever its size 0|1
-- returns  { when to come back (text, "" if nothing is in sight), taken from capped lines, was a job left
--            because of its size 0|1,
--            { of those that have more: number of the job, checkpoint or false, steps or {}, … },
--            { the moving parts of the headers }, { long bodies }, texts of several jobs, … }
--          of each job in a text: the size of its id, the number of its moving part, the sizes of
--          what stays of its header and of its body (0: the next of the long ones), id, what stays,
--          body
-- include: clock header queue ring places gates
local q = queue_at(1)
local worker, lease_ms, at_most = arg(), number_arg(), number_arg()
local capped_left, wants_capped = number_arg(), arg() == '1'
local bytes_left, is_first_free, is_over = tonumber(arg()), arg() == '1', false

-- So many jobs of a line at a time: going through every line for each job costs twice as much, and
-- the virtual times keep it fair over a few calls.
local PACK = 4
-- So many lines that give nothing are put away in one call before the caller is sent home to come back at
-- once; and so many are let in whose hold has ended.
local PUT_AWAY, LET_IN = 500, 200

if not is_made(q) then
  -- Nobody knows the queue yet; whoever makes it is to know that somebody waits.
  if at_most > 0 then redis.call('HSET', q.m, 'hungry', '1') end
  return { '', 0, 0, {}, {}, {} }
end
read_gates(q)
q.taken = {}

local ids, members, taken_count, capped_taken = {}, {}, 0, 0

-- Of one visit of the ring: lines that have given and move back, and lines that have nothing more.
local moved, emptied, full = {}, {}, {}
-- The only line of the ring has given all it had.
local is_g_empty = false

-- How many of the first so many fit into the bytes that are left. Sizes are asked for only where a job may
-- be large: asking for all of them would cost a lease a seventh more.
local function fitting(found, count)
  if not bytes_left then return count end
  local large, is_small = q.kept.large, count * SMALL <= bytes_left
  if is_small and large > 0 then
    for index = 1, count do
      if seq_of(sub(found[index], 1, 14)) <= large then
        is_small = false
        break
      end
    end
  end
  if is_small then
    bytes_left = bytes_left - count * SMALL
    return count
  end
  for index = 1, count do
    local size = redis.call('HSTRLEN', q.b, id_of(found[index]))
    if size > bytes_left and not (is_first_free and taken_count + index == 1) then
      is_over = true
      return index - 1
    end
    bytes_left = bytes_left - size
  end
  return count
end

local function take_from(group, count)
  local line = q.r .. group
  -- One more than it may give tells whether anything is left.
  local found = redis.call('ZRANGE', line, 0, count)
  local is_last = #found <= count
  local got = fitting(found, is_last and #found or count)
  is_last = is_last and got == #found
  for index = 1, got do
    local member = found[index]
    ids[taken_count + index], members[taken_count + index] = id_of(member), member
  end
  if got > 0 then
    redis.call('ZREMRANGEBYRANK', line, 0, got - 1)
    taken_count = taken_count + got
    q.taken[group] = (q.taken[group] or 0) + got
  end
  return got, is_last
end

-- They are in the ring, where they were found, and nowhere else.
local function write_ring(ring)
  local back, gone = moved[ring], emptied[ring]
  if back then redis.call('ZADD', ring, 'XX', unpack(back)) end
  if gone then redis.call('ZREM', ring, unpack(gone)) end
  moved[ring], emptied[ring] = nil, nil
end
local function write_rings()
  write_ring(q.g)
  if q.has_caps then write_ring(q.gc) end
  if #full > 0 then redis.call('ZADD', q.gf, unpack(full)) end
  full = {}
end
local function listed(lists, ring)
  local list = lists[ring]
  if not list then
    list = {}
    lists[ring] = list
  end
  return list
end

-- What is held for a time, and what was full under another cap, is looked at again.
local function reopen_lines()
  q.has_parked = redis.call('EXISTS', q.gp, q.gpc, q.gr) > 0
  if not q.has_parked then return end
  for _, parked in ipairs({ q.gp, q.gpc }) do
    local over = redis.call('ZRANGEBYSCORE', parked, '-inf', text_of(now), 'LIMIT', 0, LET_IN)
    if #over > 0 then redis.call('ZREM', parked, unpack(over)) end
    for _, group in ipairs(over) do stand(q, group, q.vt) end
  end
  local again = redis.call('ZPOPMIN', q.gr, LET_IN)
  for index = 1, #again, 2 do stand(q, again[index], math.max(tonumber(again[index + 1]), q.vt)) end
end

local function heads_in(ring, most)
  local lines = {}
  local found = redis.call('ZRANGE', ring, 0, most - 1, 'WITHSCORES')
  for index = 1, #found, 2 do
    lines[#lines + 1] = { group = found[index], pass = tonumber(found[index + 1]), ring = ring }
  end
  return lines
end

-- The lines at the head of the ring that this caller may have something of.
local function heads_of_ring(most)
  if q.is_all_capped and capped_left <= 0 then return {} end
  local lines = heads_in(q.g, most)
  if not q.has_caps or capped_left <= 0 then return lines end
  for _, line in ipairs(heads_in(q.gc, most)) do lines[#lines + 1] = line end
  table.sort(lines, function(a, b)
    if a.pass ~= b.pass then return a.pass < b.pass end
    return a.group < b.group
  end)
  for index = #lines, most + 1, -1 do lines[index] = nil end
  return lines
end

-- One visit of the lines at the head of the ring. Answers how many jobs they gave, how many lines gave
-- none, and whether there were any.
local function take_turns(left)
  local lines = heads_of_ring(math.min(100, math.max(2, left)))
  if #lines == 0 then return 0, 0, false end
  open_lines(q, lines)
  local total, put_away = 0, 0
  for _, line in ipairs(lines) do
    total = total + line.weight
    if line.slots <= 0 then put_away = put_away + 1 end
  end
  local share = math.floor(left / total)
  local is_alone = #lines == 1
  local taken = 0
  for _, line in ipairs(lines) do
    local slots, is_capped = line.slots, q.is_all_capped or line.ring == q.gc
    local most = is_capped and math.min(slots, capped_left) or slots
    if most > 0 then
      local pack = is_alone and left or line.weight * math.max(share, PACK)
      local got, is_last = take_from(line.group, math.min(left - taken, pack, most))
      if is_capped then
        capped_left = capped_left - got
        capped_taken = capped_taken + got
      end
      taken = taken + got
      local pass = is_alone and line.pass or line.pass + got / line.weight
      if not is_alone and got > 0 then q.vt = math.max(q.vt, line.pass) end
      if is_alone and is_last and line.ring == q.g then is_g_empty = true end
      if is_last or slots <= got then
        local gone = listed(emptied, line.ring)
        gone[#gone + 1] = line.group
        if not is_last then add(full, text_of(pass), line.group) end
      elseif not is_alone and got > 0 then
        add(listed(moved, line.ring), pass, line.group)
      end
    end
    if taken >= left or is_over then break end
  end
  write_rings()
  return taken, put_away, true
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
  local left, put_away = room(), 0
  while left > 0 and put_away < PUT_AWAY and not is_over do
    local taken, useless, is_more = take_turns(left)
    if not is_more then break end
    left = left - taken
    put_away = put_away + useless
  end
end

-- Of one line in one command.
local function count_taken()
  local group = next(q.taken)
  if next(q.taken, group) ~= nil then
    change_active(q, q.taken, 1)
  else
    redis.call('HINCRBY', q.la, group, q.taken[group])
  end
end

-- ── start the attempts ──────────────────────────────────────────────────────────────────────────
local lease_until = instant_after(lease_ms)

-- What a lease makes of the moving part of a header; where what stays of it ends, counted from the
-- end; and what the job has elsewhere.
local parts_begun = {}
local function begin(moving)
  local h = unpack_moving(moving)
  local was_tried = h.attempts > 0
  unset(h, LEASE_SPENT)
  if h.crashes > 0 then set(h, UNSTARTED) end
  if h.attempts < h.max_attempts then
    h.attempts = h.attempts + 1
    set(h, LEASE_SPENT)
  end
  h.fence = fence_after(h.fence)
  h.status, h.updates_order = PROCESSING, 0
  h.started_at, h.updated_at, h.lease_until = now, now, lease_until
  local begun = pack_moving(h, #worker)
  parts_begun[#parts_begun + 1] = begun
  return { moving = begun, cut = -h.worker_size - 1, number = #parts_begun, sizes = {}, h = h,
    was_tried = was_tried,
    has_more = has(h, HAS_DETAILS) or has(h, HAS_STEPS) }
end

local more = {}
local function add_more(index, id, h)
  more[#more + 1] = index
  more[#more + 1] = has(h, HAS_DETAILS) and redis.call('HGET', q.x, 'c' .. id) or false
  more[#more + 1] = has(h, HAS_STEPS) and redis.call('HGETALL', q.base .. 's:' .. id) or {}
end

-- Several jobs in one text: a list of all their parts costs the driver more than reading them. The
-- server hashes every byte of a text that a script makes, so bodies that are long stay as they are; and
-- what is joined beyond 8 KiB it makes more than once.
local SIZES, TEXT_SIZE, LONG = '<I2I2I4I4', 6000, 500
local long = {}
local reply = { '', capped_taken, is_over and 1 or 0, more, parts_begun, long }

if taken_count > 0 then
  local headers, bodies = redis.call('HMGET', q.h, unpack(ids)), redis.call('HMGET', q.b, unpack(ids))
  local written, leased, known, tried = {}, {}, {}, {}
  local parts, first, last, text_size = {}, 1, 0, 0
  local until_text = text_of(lease_until)
  local moving, begun
  for index, id in ipairs(ids) do
    local packed, body = headers[index], bodies[index]
    -- Most begin as the one before.
    if not moving or find(packed, moving, 1, true) ~= 1 then
      moving = sub(packed, 1, MOVING_SIZE)
      begun = known[moving] or begin(moving)
      known[moving] = begun
    end
    local stays = sub(packed, MOVING_SIZE + 1, begun.cut)
    local pair = 2 * index
    written[pair - 1], written[pair] = id, begun.moving .. stays .. worker
    leased[pair - 1], leased[pair] = until_text, members[index]
    if begun.has_more then add_more(index, id, begun.h) end
    if begun.was_tried then tried[#tried + 1] = id end
    local body_size = #body
    if body_size > LONG then
      long[#long + 1] = body
      body, body_size = '', 0
    end
    -- Most have sizes that came before. No two have one key: a body that is joined is short.
    local key = #id + 65536 * (body_size + 1024 * #stays)
    local sizes = begun.sizes[key]
    if not sizes then
      sizes = struct.pack(SIZES, #id, begun.number, #stays, body_size)
      begun.sizes[key] = sizes
    end
    parts[last + 1], parts[last + 2], parts[last + 3], parts[last + 4] = sizes, id, stays, body
    last, text_size = last + 4, text_size + #id + #stays + body_size
    if text_size > TEXT_SIZE then
      reply[#reply + 1] = table.concat(parts, '', first, last)
      first, text_size = last + 1, 0
    end
  end
  if last >= first then reply[#reply + 1] = table.concat(parts, '', first, last) end
  redis.call('HSET', q.h, unpack(written))
  redis.call('ZADD', q.a, unpack(leased))
  if #tried > 0 then redis.call('ZREM', q.rt, unpack(tried)) end
  note_lease(q, lease_until)
  count_taken()
  q.taken = {}
end

-- ── when to come back ───────────────────────────────────────────────────────────────────────────
-- Now if a line is open or a job was too large for what was left, else when a job falls due or a hold ends. What is only full is not worth
-- coming back for: the settle that makes room sends a wakeup.

-- Is there a line in this half of the ring that may give something? In doubt there is.
local function is_open(ring)
  if ring == q.g and is_g_empty then return false end
  for visit = 0, PUT_AWAY / 100 do
    local lines = heads_in(ring, visit == 0 and 1 or 100)
    if #lines == 0 then return false end
    open_lines(q, lines)
    for _, line in ipairs(lines) do
      if line.slots > 0 then return true end
    end
  end
  return true
end

local function next_line_at()
  if not wants_capped and q.is_all_capped then return FOREVER end
  if is_open(q.g) or (wants_capped and q.has_caps and is_open(q.gc)) then return now end
  if not q.has_parked then return FOREVER end
  -- Not all have been looked at again.
  if wants_capped and redis.call('EXISTS', q.gr) == 1 then return now end
  local held = redis.call('ZRANGE', q.gp, 0, 0, 'WITHSCORES')[2]
  local capped = wants_capped and redis.call('ZRANGE', q.gpc, 0, 0, 'WITHSCORES')[2]
  return math.min(tonumber(held) or FOREVER, tonumber(capped) or FOREVER)
end

local function come_back_at()
  if q.held_until then return q.held_until end
  if q.max_active and redis.call('ZCARD', q.a) >= q.max_active then
    return due_at > now and due_at or FOREVER
  end
  return math.min(due_at, next_line_at())
end

local back_at = is_over and now or come_back_at()
if back_at < FOREVER then reply[1] = text_of(math.max(0, back_at - now)) end
-- Also who got just what was asked for, if nothing is left to come for now: slots get free, and no call tells of it.
local is_hungry = at_most > 0 and not is_over and (taken_count < at_most or back_at > now)
if is_hungry and not kept_of(q).hungry then
  redis.call('HSET', q.m, 'hungry', '1')
end
if vt and q.vt ~= vt then redis.call('HSET', q.m, 'vt', text_of(q.vt)) end
-- An idle worker that asks again and again writes nothing; but a clock that is ahead must go on.
if taken_count > 0 or ahead then save_clock() end
return reply
