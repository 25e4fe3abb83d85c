-- A job's header: all that moves, and all that a filter asks for, in one packed string. The driver's
-- side reads the same bytes (header.ts): change both together.
--
-- Instants that are not set are -1; so is the settled fence of a job that was never settled.
local QUEUED, PROCESSING, SUCCEEDED, DEAD, CANCELLED = 1, 2, 3, 4, 5
local KEPT, UNTIL_FINISHED = -1, -2

-- Bits of `flags`: what is there to look for elsewhere.
local RESULT_DROPPED, CANCEL_ASKED, LEASE_SPENT, HAS_DETAILS = 1, 2, 4, 8
local HAS_STEPS, HAS_LOGS, HAS_HISTORY, HAS_KEY = 16, 32, 64, 128

-- What never changes is one text, `rest` (type, tags, key, hash), and is opened only when it is asked for.
local HEADER = '<BI2BI2I4I4I4I4dddddddddddI2c0I2c0I2c0'
local REST = '<I2c0I2c0I2c0I2c0'

local function pack_rest(h)
  h.rest = struct.pack(REST, #h.type, h.type, #h.tags, h.tags, #h.key, h.key, #h.hash, h.hash)
end

local function open_rest(h)
  if not h.type then h.type, h.tags, h.key, h.hash = struct.unpack(REST, h.rest) end
end

local function pack_header(h)
  return struct.pack(HEADER, h.status, h.flags, h.category, h.priority, h.attempts, h.max_attempts,
    h.crashes, h.deferrals, h.seq, h.created_at, h.updated_at, h.run_at, h.started_at, h.finished_at,
    h.lease_until, h.fence, h.settled_fence, h.riders_order, h.lifetime, #h.group, h.group,
    #h.worker, h.worker, #h.rest, h.rest)
end

-- A table that is made with all its fields is made at once; one that grows is made again and again.
local function unpack_header(packed)
  local status, flags, category, priority, attempts, max_attempts, crashes, deferrals, seq, created_at,
    updated_at, run_at, started_at, finished_at, lease_until, fence, settled_fence, riders_order,
    lifetime, group, worker, rest = struct.unpack(HEADER, packed)
  return {
    status = status, flags = flags, category = category, priority = priority, attempts = attempts,
    max_attempts = max_attempts, crashes = crashes, deferrals = deferrals, seq = seq,
    created_at = created_at, updated_at = updated_at, run_at = run_at, started_at = started_at,
    finished_at = finished_at, lease_until = lease_until, fence = fence,
    settled_fence = settled_fence, riders_order = riders_order, lifetime = lifetime, group = group,
    worker = worker, rest = rest,
  }
end

-- A job that nothing has happened to yet.
local function new_header()
  return {
    status = QUEUED, flags = 0, category = 0, priority = 0, attempts = 0, max_attempts = 0,
    crashes = 0, deferrals = 0, seq = 0, created_at = now, updated_at = now, run_at = now,
    started_at = -1, finished_at = -1, lease_until = -1, fence = 0, settled_fence = -1,
    riders_order = 0, lifetime = KEPT, group = '', worker = '', rest = '', type = '', tags = '',
    key = '', hash = '',
  }
end

local function has(h, flag)
  return bit.band(h.flags, flag) ~= 0
end
local function set(h, flag)
  h.flags = bit.bor(h.flags, flag)
end
local function unset(h, flag)
  h.flags = bit.band(h.flags, bit.bnot(flag))
end

-- In sorted sets a job is its running number and its id, so that equal scores sort by age.
local function member_of(seq, id)
  return string.format('%014x', seq) .. id
end
local function id_of(member)
  return string.sub(member, 15)
end
