#!lua flags=no-writes
-- A page of entries, newest first: by time, and among entries of one instant the last appended first.
--
-- KEYS     root of the ledger
-- ARGV     clock, has cursor 0|1, time and running number of the last entry looked at, how many, how
--          many to look at, from or "", to or "", counted ids (0: any), counted conditions (name, text)
-- returns  { time and number of the last looked at, or "" "" if there is none beyond, id, entry, … }
-- include: clock header ledger
local has_cursor, cursor_at, cursor_seq = arg() == '1', number_arg(), number_arg()
local limit, look, from, to = number_arg(), number_arg(), number_arg(), number_arg()
local ids, conditions = {}, {}
for index = 1, number_arg() do ids[index] = arg() end
for index = 1, number_arg() do conditions[index] = { arg(), arg() } end

local function is_before_cursor(e)
  if not has_cursor then return true end
  return e.at < cursor_at or (e.at == cursor_at and e.seq < cursor_seq)
end

local function wants(e)
  if (from and e.at < from) or (to and e.at >= to) then return false end
  local rest = nil
  for _, condition in ipairs(conditions) do
    local name, text = condition[1], condition[2]
    if name == 'state' then
      if e.state ~= text then return false end
    else
      rest = rest or cjson.decode(e.rest)
      if rest[name] ~= text then return false end
    end
  end
  return true
end

local reply, found, looked = { '', '' }, 0, 0

-- Answers true when the page is done.
local function look_at(id, packed)
  local e = unpack_entry(packed)
  if not is_before_cursor(e) then return false end
  looked = looked + 1
  if wants(e) then
    reply[#reply + 1] = id
    reply[#reply + 1] = packed
    found = found + 1
  end
  if found < limit and looked < look then return false end
  reply[1], reply[2] = text_of(e.at), text_of(e.seq)
  return true
end

-- A look by ids need not walk the ledger to find them.
if #ids > 0 then
  local entries = {}
  for _, id in ipairs(ids) do
    local packed = redis.call('HGET', root .. 'eb', id)
    if packed then entries[#entries + 1] = { id, packed, unpack_entry(packed) } end
  end
  table.sort(entries, function(a, b)
    if a[3].at ~= b[3].at then return a[3].at > b[3].at end
    return a[3].seq > b[3].seq
  end)
  for _, entry in ipairs(entries) do
    if look_at(entry[1], entry[2]) then break end
  end
  return reply
end

local CHUNK = 100
local start = has_cursor and text_of(cursor_at) or '+inf'
local offset = 0
while true do
  local page = redis.call('ZRANGE', root .. 'ei', start, '-inf', 'BYSCORE', 'REV', 'LIMIT', offset, CHUNK)
  if #page == 0 then return reply end
  for _, member in ipairs(page) do
    local id = id_of(member)
    if look_at(id, redis.call('HGET', root .. 'eb', id)) then return reply end
  end
  offset = offset + CHUNK
end
