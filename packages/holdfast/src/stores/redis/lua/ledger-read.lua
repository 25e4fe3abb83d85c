#!lua flags=no-writes
-- A page of entries, newest first: by time, and among entries of one instant the last appended first. Or how
-- many there are.
--
-- KEYS     root of the ledger
-- ARGV     clock, only count 0|1, where they are listed ("ei", "ek:<kind>", "ej:<job>"), has cursor 0|1, time
--          and running number of the last entry looked at, how many, how many to look at, from or "", to or
--          "", counted ids (0: any), has state 0|1, state, counted pieces of what an entry never changes
-- returns  { time and number of the last looked at, or "" "" if there is none beyond, how many were found,
--            id, entry, … }
-- include: clock header ledger
local only_count, listed = arg() == '1', root .. arg()
local has_cursor, cursor_at, cursor_seq = arg() == '1', number_arg(), number_arg()
local limit, look, from, to = number_arg(), number_arg(), number_arg(), number_arg()
local ids, pieces = {}, {}
for index = 1, number_arg() do ids[index] = arg() end
local has_state, state = arg() == '1', arg()
for index = 1, number_arg() do pieces[index] = arg() end
local CHUNK = 100

local function wants(e)
  if (from and e.at < from) or (to and e.at >= to) or (has_state and e.state ~= state) then return false end
  -- A piece is a name and a value as JSON writes them: it is in the text of an entry, or that has another value.
  for _, piece in ipairs(pieces) do
    if not find(e.rest, piece, 1, true) then return false end
  end
  return true
end

local reply, found, looked = { '', '', 0 }, 0, 0

-- Answers true when the page is done.
local function look_at(id, packed)
  local e = unpack_entry(packed)
  looked = looked + 1
  if wants(e) then
    found = found + 1
    if not only_count then
      reply[#reply + 1] = id
      reply[#reply + 1] = packed
    end
  end
  if found < limit and looked < look then return false end
  reply[1], reply[2] = text_of(e.at), text_of(e.seq)
  return true
end

-- A look by ids need not walk the ledger to find them.
local function look_by_ids()
  local entries = {}
  for _, id in ipairs(ids) do
    local packed = redis.call('HGET', root .. 'eb', id)
    local e = packed and unpack_entry(packed)
    if e and (not has_cursor or e.at < cursor_at or (e.at == cursor_at and e.seq < cursor_seq)) then
      entries[#entries + 1] = { id, packed, e }
    end
  end
  table.sort(entries, function(a, b)
    if a[3].at ~= b[3].at then return a[3].at > b[3].at end
    return a[3].seq > b[3].seq
  end)
  for _, entry in ipairs(entries) do
    if look_at(entry[1], entry[2]) then return end
  end
end

-- How many entries are newer than where to begin. Many may be of one instant: those are halved until it is found.
local function first_rank()
  local rank = to and redis.call('ZCOUNT', listed, text_of(to), '+inf') or 0
  if not has_cursor then return rank end
  local low = redis.call('ZCOUNT', listed, '(' .. text_of(cursor_at), '+inf')
  local high = redis.call('ZCOUNT', listed, text_of(cursor_at), '+inf')
  while low < high do
    local middle = math.floor((low + high) / 2)
    local member = redis.call('ZRANGE', listed, middle, middle, 'REV')[1]
    if seq_of(sub(member, 1, 14)) >= cursor_seq then low = middle + 1 else high = middle end
  end
  return math.max(rank, low)
end

local function look_through()
  local rank = first_rank()
  local last = from and redis.call('ZCOUNT', listed, text_of(from), '+inf') - 1 or math.huge
  while rank <= last do
    local page = redis.call('ZRANGE', listed, rank, math.min(last, rank + CHUNK - 1), 'REV')
    if #page == 0 then return end
    for index, member in ipairs(page) do page[index] = id_of(member) end
    for index, packed in ipairs(redis.call('HMGET', root .. 'eb', unpack(page))) do
      if look_at(page[index], packed) then return end
    end
    rank = rank + CHUNK
  end
end

if #ids > 0 then look_by_ids() else look_through() end
reply[3] = found
return reply
