#!lua flags=no-writes
-- The ids of the jobs of one queue that fit a filter, by insertion. Looks at so many jobs at most.
--
-- What is looked for among many others is found where it is listed: `z` and `dk` (dead and cancelled), `rt`
-- (tried before), `a` (processing), a line and `d` (queued), `f` (finished, by when). Where these are many, or
-- nothing narrows it down, the walk is through `i`, all jobs.
--
-- KEYS     root, queue
-- ARGV     clock, newest 0|1, where to begin (a score of ZRANGE), how many, how many to look at; filter
-- returns  { the number of the last job looked at, or "" if there is none beyond, is it a walk through
--            what is listed 0|1, id, number, … }
-- include: clock header queue ring places filter
local q = queue_at(1)
local is_newest, from, limit, look = arg() == '1', arg(), number_arg(), number_arg()
local filter = read_filter()
local CHUNK, MOST_GATHERED, MOST_LINES = 200, 4000, 100
local reply, found, looked = { '', '1' }, 0, 0

-- Which statuses can fit at all.
local function wanted_statuses()
  local wanted, only = {}, nil
  for status = QUEUED, CANCELLED do
    local is_queued = status == QUEUED
    if (filter.statuses == '' or find(filter.statuses, tostring(status), 1, true))
      and (is_queued or (filter.delayed == '' and filter.retrying == ''))
      and (status > PROCESSING or not (filter.finished_from or filter.finished_to)) then
      wanted[status] = true
      only = only == nil and status or false
    end
  end
  return wanted, only
end

-- Sets of members (running number and id), whole or between two scores, and how many there are.
local gathered, size = {}, 0
local function gather(key, low, high)
  gathered[#gathered + 1] = { key, low or '-inf', high or '+inf' }
  size = size + (low and redis.call('ZCOUNT', key, low, high) or redis.call('ZCARD', key))
end

local function gather_all(wanted)
  if wanted[PROCESSING] then gather(q.a) end
  if wanted[QUEUED] then
    gather(q.d)
    if filter.group then
      gather(q.r .. filter.group)
    elseif redis.call('ZCARD', q.n) <= MOST_LINES then
      for _, group in ipairs(redis.call('ZRANGE', q.n, 0, -1)) do gather(q.r .. group) end
    else
      size = FOREVER
    end
  end
  local low = filter.finished_from and text_of(filter.finished_from) or '-inf'
  local high = filter.finished_to and '(' .. text_of(filter.finished_to) or '+inf'
  for status, letter in pairs(STATUS_LETTER) do
    if wanted[status] then gather(q.f .. letter, low, high) end
  end
end

-- The shortest list of dead jobs that have a word of the filter.
local function gather_dead()
  local words = { f = filter.fingerprint, t = filter.type, g = filter.group }
  local best, least = nil, FOREVER
  for letter, word in pairs(words) do
    local key = q.dk .. letter .. '+' .. word
    local count = redis.call('ZCARD', key)
    if count < least then best, least = key, count end
  end
  if best and least < size then gathered, size = { { best, '-inf', '+inf' } }, least end
end

-- Answers true when the page is done. Most are told apart by their status alone.
local function look_at(id, packed)
  if filter and filter.statuses ~= '' and not find(filter.statuses, tostring(status_in(packed)), 1, true) then
    looked = looked + 0.1
  else
    local h = unpack_header(packed)
    looked = looked + 1
    if not filter or fits(q, id, h, filter) then
      reply[#reply + 1] = id
      reply[#reply + 1] = text_of(seq_of(h.age))
      found = found + 1
    end
  end
  if found < limit and looked < look then return false end
  reply[1] = text_of(seq_of(age_in(packed)))
  return true
end

local function look_through(ids)
  for index, packed in ipairs(#ids > 0 and redis.call('HMGET', q.h, unpack(ids)) or {}) do
    if look_at(ids[index], packed) then return true end
  end
  return false
end

-- Sorted here, because they are by something else where they are.
local function look_through_gathered()
  local is_after, start = sub(from, 1, 1) == '(', tonumber((string.gsub(from, '^%(', '')))
  local members = {}
  for _, set in ipairs(gathered) do
    for _, member in ipairs(redis.call('ZRANGEBYSCORE', set[1], set[2], set[3])) do
      local seq = seq_of(sub(member, 1, 14))
      local is_beyond = not start or math.abs(start) == FOREVER or (is_newest and seq < start)
        or (not is_newest and seq > start) or (seq == start and not is_after)
      if is_beyond then members[#members + 1] = member end
    end
  end
  table.sort(members, function(a, b)
    if is_newest then return a > b end
    return a < b
  end)
  for first = 1, #members, CHUNK do
    local ids = {}
    for index = first, math.min(#members, first + CHUNK - 1) do ids[#ids + 1] = id_of(members[index]) end
    if look_through(ids) then return end
  end
end

local function page_of(key)
  local finish = is_newest and '-inf' or '+inf'
  if is_newest then
    return redis.call('ZRANGE', key, from, finish, 'BYSCORE', 'REV', 'LIMIT', 0, CHUNK, 'WITHSCORES')
  end
  return redis.call('ZRANGE', key, from, finish, 'BYSCORE', 'LIMIT', 0, CHUNK, 'WITHSCORES')
end

-- Sets of ids by running number, one or two.
local function walk(keys)
  while true do
    local jobs, bound = {}, nil
    for _, key in ipairs(keys) do
      local page = page_of(key)
      for index = 1, #page, 2 do jobs[#jobs + 1] = { id = page[index], seq = tonumber(page[index + 1]) } end
      local last = #page == 2 * CHUNK and tonumber(page[#page])
      if last and (not bound or (is_newest and last > bound) or (not is_newest and last < bound)) then
        bound = last
      end
    end
    if #jobs == 0 then return end
    if #keys > 1 then
      table.sort(jobs, function(a, b)
        if is_newest then return a.seq > b.seq end
        return a.seq < b.seq
      end)
    end
    local ids, last = {}, nil
    for _, job in ipairs(jobs) do
      if bound and ((is_newest and job.seq < bound) or (not is_newest and job.seq > bound)) then break end
      ids[#ids + 1], last = job.id, job.seq
    end
    if look_through(ids) or not bound then return end
    from = '(' .. text_of(last)
  end
end

local function look_everywhere()
  if not filter then return walk({ q.i }) end
  local wanted, only = wanted_statuses()
  if next(wanted) == nil then return end
  if filter.retrying == '1' then return walk({ q.rt }) end
  local is_ended_badly = not (wanted[QUEUED] or wanted[PROCESSING] or wanted[SUCCEEDED])
  if wanted[QUEUED] and wanted[PROCESSING] and wanted[SUCCEEDED] then size = FOREVER
  else gather_all(wanted) end
  if only == DEAD then gather_dead() end
  if size <= MOST_GATHERED then return look_through_gathered() end
  if not is_ended_badly then
    reply[2] = '0'
    return walk({ q.i })
  end
  local keys = {}
  if wanted[DEAD] then keys[#keys + 1] = q.z .. 'd' end
  if wanted[CANCELLED] then keys[#keys + 1] = q.z .. 'c' end
  return walk(keys)
end
look_everywhere()
return reply
