-- What a lease asks for, and how it starts jobs. For scripts whose first arguments are these:
--
--   worker, leaseMs, how many, how many of capped lines, does the caller want any of capped lines 0|1, how
--   many bytes of bodies or "", does the first job come whatever its size 0|1
--
-- The jobs in a reply are these parts of it, in this order:
--
--   { of those that have more: number of the job, checkpoint or false, steps or {}, … },
--   { the moving parts of the headers }, { long bodies }, texts of several jobs, …
--
-- Of each job in a text: the size of its id, the number of its moving part, the sizes of what stays of its
-- header and of its body (0: the next of the long ones), id, what stays, body.
local q = queue_at(1)
local worker, lease_ms, at_most = arg(), number_arg(), number_arg()
local capped_left, wants_capped = number_arg(), arg() == '1'
local bytes_left, is_first_free = tonumber(arg()), arg() == '1'
local lease_until = instant_after(lease_ms)

-- How many of each line this call has taken and not written yet.
q.taken = {}

local function next_due()
  return tonumber(redis.call('ZRANGE', q.d, 0, 0, 'WITHSCORES')[2]) or FOREVER
end

-- Its caller goes away with less than it could take.
local function note_hunger()
  if not kept_of(q).hungry then redis.call('HSET', q.m, 'hungry', '1') end
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
local texts = {}

-- `headers` as they are kept, or would be; `members` of sorted sets.
local function start_jobs(ids, members, headers, bodies)
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
      texts[#texts + 1] = table.concat(parts, '', first, last)
      first, text_size = last + 1, 0
    end
  end
  if last >= first then texts[#texts + 1] = table.concat(parts, '', first, last) end
  redis.call('HSET', q.h, unpack(written))
  redis.call('ZADD', q.a, unpack(leased))
  if #tried > 0 then redis.call('ZREM', q.rt, unpack(tried)) end
  note_lease(q, lease_until)
  count_taken()
  q.taken = {}
end

-- Adds the jobs that were started to a reply.
local function answer_jobs(reply)
  reply[#reply + 1] = more
  reply[#reply + 1] = parts_begun
  reply[#reply + 1] = long
  for _, text in ipairs(texts) do reply[#reply + 1] = text end
  return reply
end
