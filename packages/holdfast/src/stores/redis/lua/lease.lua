#!lua flags=allow-oom
-- Hands out ready jobs of one queue: turns between its lines, priority and age inside a line.
--
-- KEYS     root, queue
-- ARGV     clock, what is asked for (leasing.lua)
-- returns  { when to come back (text, "" if nothing is in sight), taken from capped lines, was a job left
--            because of its size 0|1, the jobs (leasing.lua) … }
-- include: clock header queue ring places gates leasing
local is_over = false

-- So many jobs of a line at a time: going through every line for each job costs twice as much, and
-- the virtual times keep it fair over a few calls.
local PACK = 4
-- So many lines that give nothing are put away in one call before the caller is sent home to come back at
-- once; and so many are let in whose hold has ended.
local PUT_AWAY, LET_IN = 500, 200

if not is_made(q) then
  -- Nobody knows the queue yet; whoever makes it is to know that somebody waits.
  if at_most > 0 then redis.call('HSET', q.m, 'hungry', '1') end
  return answer_jobs({ '', 0, 0 })
end
read_gates(q)

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

local reply = { '', capped_taken, is_over and 1 or 0 }
if taken_count > 0 then
  start_jobs(ids, members, redis.call('HMGET', q.h, unpack(ids)), redis.call('HMGET', q.b, unpack(ids)))
end
answer_jobs(reply)

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
if is_hungry then note_hunger() end
if vt and q.vt ~= vt then redis.call('HSET', q.m, 'vt', text_of(q.vt)) end
-- An idle worker that asks again and again writes nothing; but a clock that is ahead must go on.
if taken_count > 0 or ahead then save_clock() end
return reply
