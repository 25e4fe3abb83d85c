-- A queue: its keys, the headers of its jobs, and what is kept of the queue itself.
local STATUS_LETTER = { [SUCCEEDED] = 's', [DEAD] = 'd', [CANCELLED] = 'c' }

-- Names of up to three letters are keys, and made when they are asked for: a script over hundreds of queues
-- needs a few keys of each. What else is noted of a queue has longer names.
local WITH_MORE = { r = ':', f = ':', z = ':', dk = ':', dn = ':' }
local KEY_OF = {
  __index = function(q, name)
    if #name > 3 then return nil end
    local key = q.base .. name .. (WITH_MORE[name] or '')
    q[name] = key
    return key
  end,
}

local queues = {}
local function queue_of(base)
  local known = queues[base]
  if known then return known end
  local q = setmetatable({ base = base, packed = {}, headers = {}, dirty = {}, written = {}, ready = {},
    gone = {}, left = {}, ended = {}, results = {}, added_order = {}, added_bodies = {} }, KEY_OF)
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
    'maxWaiting', 'heldUntil', 'large', 'gated', 'emptyAt')
  kept = { made = found[1], hungry = found[2], vt = tonumber(found[3]) or 0,
    max_active = tonumber(found[4]), max_per_group = tonumber(found[5]),
    max_waiting = tonumber(found[6]), held_until = tonumber(found[7]),
    large = tonumber(found[8]) or 0, gated = found[9], empty_at = found[10] }
  q.kept = kept
  return kept
end

-- Its name as it is in keys: `{hf:mail}:` of the store `{hf}:` is "mail".
local function name_of(q)
  return sub(q.base, #root, -3)
end
local function queue_named(name)
  return queue_of(sub(root, 1, -3) .. ':' .. name .. '}:')
end

-- A queue exists from its first job or setting on. Answers whether it is new. On one server the store
-- (`{hf}:`) lists its queues (`{hf:mail}:`) here; in a cluster its driver's side does.
local function make_queue(q)
  local kept = kept_of(q)
  if kept.empty_at then
    redis.call('HDEL', q.m, 'emptyAt')
    kept.empty_at = false
  end
  if kept.made then return false end
  kept.made = '1'
  redis.call('HSET', q.m, 'made', '1')
  if root ~= q.base then redis.call('SADD', root .. 'q', name_of(q)) end
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
