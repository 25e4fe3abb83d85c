-- What becomes of a job: its key, its details, and the ways it moves on, whoever moves it.
--
-- Details are what most jobs do not have: fields of `x`, a letter and the id. r result, e failure,
-- w reason, y by whom, p progress, c checkpoint, u and v why and by whom a running job is to stop.
-- Steps, logs and attempts have keys of their own, `s:<id>`, `l:<id>` and `y:<id>`.
local DETAILS = { 'r', 'e', 'w', 'y', 'p', 'c', 'u', 'v' }
local LOG_LENGTH, HISTORY_LENGTH = 200, 20

local function set_detail(q, id, h, letter, text)
  if text then
    redis.call('HSET', q.x, letter .. id, text)
    set(h, HAS_DETAILS)
  elseif has(h, HAS_DETAILS) then
    redis.call('HDEL', q.x, letter .. id)
  end
end

local function detail_fields(id)
  local fields = {}
  for index, letter in ipairs(DETAILS) do fields[index] = letter .. id end
  return unpack(fields)
end

local function add_log(q, id, h, text)
  local key = q.base .. 'l:' .. id
  redis.call('RPUSH', key, text_of(now) .. ' ' .. text)
  redis.call('LTRIM', key, -LOG_LENGTH, -1)
  set(h, HAS_LOGS)
end

-- A finished step is never computed again, so its first value is the only one. The number in front
-- keeps their order.
local function add_step(q, id, h, name, value)
  local key = q.base .. 's:' .. id
  local number = string.format('%06d', redis.call('HLEN', key))
  redis.call('HSETNX', key, name, number .. value)
  set(h, HAS_STEPS)
end

-- Adds the attempt that ends now. To be called before anything of it is given back.
local function add_attempt(q, id, h, outcome, failure)
  local key = q.base .. 'y:' .. id
  local worker = h.worker
  redis.call('RPUSH', key, struct.pack('<BI4dddI2c0I4c0', outcome, h.attempts, h.fence,
    h.started_at < 0 and now or h.started_at, now, #worker, worker, #failure, failure))
  redis.call('LTRIM', key, -HISTORY_LENGTH, -1)
  set(h, HAS_HISTORY)
end

-- ── keys ────────────────────────────────────────────────────────────────────────────────────────
-- `k` holds key -> end, id and hash; `ke` the keys that end by themselves, by when. An end of -1:
-- freed with its job, or when its job finishes.

local function read_key(q, key)
  local packed = redis.call('HGET', q.k, key)
  if not packed then return nil end
  local expires_at, id, hash = struct.unpack('<dI2c0I2c0', packed)
  return { expires_at = expires_at, id = id, hash = hash }
end

-- Whose key it is now, if anybody's.
local function key_holder(q, key)
  local taken = read_key(q, key)
  if taken and (taken.expires_at < 0 or taken.expires_at > now) then return taken end
  return nil
end

local function write_key(q, key, expires_at, id, hash)
  redis.call('HSET', q.k, key, struct.pack('<dI2c0I2c0', expires_at, #id, id, #hash, hash))
  if expires_at >= 0 then redis.call('ZADD', q.ke, expires_at, key)
  else redis.call('ZREM', q.ke, key) end
end

-- Takes the job's key if its lifetime has a rest and nobody else has it.
local function take_key(q, id, h)
  if not has(h, HAS_KEY) then return end
  open_extra(h)
  if has(h, ENDS_KEY) and h.status > PROCESSING then return end
  local expires_at = -1
  if h.lifetime >= 0 then
    expires_at = h.created_at + math.max(0, math.ceil(h.lifetime))
    if expires_at <= now then return end
  end
  if key_holder(q, h.key) then return end
  write_key(q, h.key, expires_at, id, h.hash)
end

-- The job's own key, or nil if it has none, or another job has it by now.
local function own_key(q, id, h)
  if not has(h, HAS_KEY) then return nil end
  open_extra(h)
  local taken = read_key(q, h.key)
  return taken and taken.id == id and taken or nil
end

local function free_key(q, id, h)
  if not own_key(q, id, h) then return end
  redis.call('HDEL', q.k, h.key)
  redis.call('ZREM', q.ke, h.key)
end

-- ── the ways ────────────────────────────────────────────────────────────────────────────────────

-- Takes back what this lease added: an exhausted one added nothing.
local function give_back(h)
  if has(h, LEASE_SPENT) then h.attempts = h.attempts - 1 end
end

local function end_lease(q, id, h)
  h.lease_until = -1
  h.flags = bit.band(h.flags, bit.bnot(LEASE_SPENT + UNSTARTED))
  if has(h, CANCEL_ASKED) then
    set_detail(q, id, h, 'u', nil)
    set_detail(q, id, h, 'v', nil)
    unset(h, CANCEL_ASKED)
  end
end

-- The caller has taken it from its place. A job that is discarded has none from here on.
local function finish(q, id, h, status, is_discarded)
  end_lease(q, id, h)
  h.status = status
  h.finished_at = now
  h.updated_at = now
  if has(h, ENDS_KEY) then free_key(q, id, h) end
  if not is_discarded then place_finished(q, id, h) end
end

local function end_cancelled(q, id, h, reason, by, is_discarded)
  set_detail(q, id, h, 'w', reason)
  set_detail(q, id, h, 'y', by)
  finish(q, id, h, CANCELLED, is_discarded)
end

local function requeue(q, id, h, run_at)
  end_lease(q, id, h)
  h.status = QUEUED
  h.run_at = run_at
  h.finished_at = -1
  h.updated_at = now
  place_in_line(q, id, h)
end

-- From its holder, or from nobody who knows of it, back to its place as if it had not been leased: the
-- fence moves on, or a late settle of the old holder would look like the repeat of one that happened.
local function take_back(q, id, h)
  give_back(h)
  h.fence = fence_after(h.fence)
  leave_lease(q, h.group, h.age .. id)
  if has(h, CANCEL_ASKED) then
    local why = redis.call('HMGET', q.x, 'u' .. id, 'v' .. id)
    end_cancelled(q, id, h, why[1], why[2])
  else
    requeue(q, id, h, h.run_at)
  end
  save_header(q, id, h)
end

-- Deletes a job that has no place any more, and remembers its id and its last settle. A key with a
-- time of its own stays, and then the id is remembered as long as the key.
local function bury(q, id, h, remembers_ms)
  local key = own_key(q, id, h)
  local forget_at = now + remembers_ms
  if key and key.expires_at >= 0 then forget_at = math.max(forget_at, key.expires_at)
  else free_key(q, id, h) end
  forget_header(q, id)
  redis.call('HDEL', q.b, id)
  redis.call('ZREM', q.i, id)
  if has(h, HAS_DETAILS) then redis.call('HDEL', q.x, detail_fields(id)) end
  if has(h, HAS_STEPS) then redis.call('UNLINK', q.base .. 's:' .. id) end
  if has(h, HAS_LOGS) then redis.call('UNLINK', q.base .. 'l:' .. id) end
  if has(h, HAS_HISTORY) then redis.call('UNLINK', q.base .. 'y:' .. id) end
  redis.call('HSET', q.t, id, struct.pack('<dd', forget_at, h.settled_fence))
  redis.call('RPUSH', q.te, text_of(now + remembers_ms) .. ' ' .. id)
end

-- What is remembered is forgotten in the order in which it was buried: a list costs a third of a sorted
-- set, and a busy queue has millions of these. One that is remembered for longer, because of its key,
-- goes to the end of the list again. Answers whether there is more to do.
local function forget_some(q, at_most, remembers_ms)
  local listed = redis.call('LRANGE', q.te, 0, at_most - 1)
  local over = 0
  for _, item in ipairs(listed) do
    local look_at, id = string.match(item, '^(%S+) (.*)$')
    if tonumber(look_at) > now then break end
    over = over + 1
    local packed = redis.call('HGET', q.t, id)
    local forget_at = packed and struct.unpack('<d', packed)
    if forget_at and forget_at <= now then
      redis.call('HDEL', q.t, id)
    elseif forget_at then
      redis.call('RPUSH', q.te, text_of(math.min(forget_at, now + remembers_ms)) .. ' ' .. id)
    end
  end
  if over > 0 then redis.call('LTRIM', q.te, over, -1) end
  return over == at_most
end

-- The settled fence of a deleted job that is still remembered.
local function remembered(q, id)
  local packed = redis.call('HGET', q.t, id)
  if not packed then return nil end
  local forget_at, settled_fence = struct.unpack('<dd', packed)
  return forget_at > now and settled_fence or nil
end
