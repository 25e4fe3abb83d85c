-- A job's header: all that moves, and all that a filter asks for, in one packed string. The driver's
-- side reads the same bytes (header.ts): change both together.
--
-- First what moves: numbers, the same in most jobs of a batch. So a step that many jobs take alike works
-- them out once for each different text. Then what stays, and at the end the worker.
--
-- Instants that are not set are -1; so is the settled fence of a job that was never settled, and
-- `updated_at` of a job that nothing has happened to.
local format, sub, find = string.format, string.sub, string.find
local QUEUED, PROCESSING, SUCCEEDED, DEAD, CANCELLED = 1, 2, 3, 4, 5
local KEPT = -1

-- Bits of `flags`: what is there to look for elsewhere.
local RESULT_DROPPED, CANCEL_ASKED, LEASE_SPENT, HAS_DETAILS = 1, 2, 4, 8
local HAS_STEPS, HAS_LOGS, HAS_HISTORY, HAS_KEY, ENDS_KEY = 16, 32, 64, 128, 256
-- Of a lease: the job has crashed before, and its holder has not said yet that it starts.
local UNSTARTED = 512
-- Its priority has more than sixteen bits: the upper ones stand at the end of `extra`.
local WIDE, LOW_BITS = 1024, 65536

local MOVING, MOVING_SIZE = '<BI2BI4I4I4I4dddddddI2', 78
-- What stays begins with the running number in hexadecimal digits: members of sorted sets begin with it.
local AGE_END, GROUP_AT = 92, 119
local STAYS = '<dddI2I2c0I2c0I2c0'
local ALL = MOVING .. 'c14dddI2I2c0I2c0I2c0'
-- What most jobs do not have (tags, key, hash) is one text, opened only when it is asked for.
local EXTRA = '<I2c0I2c0I2c0'

local function pack_extra(tags, key, hash, priority)
  local is_wide = priority >= LOW_BITS
  if tags == '' and not key and not is_wide then return '' end
  local extra = struct.pack(EXTRA, #tags, tags, #(key or ''), key or '', #(hash or ''), hash or '')
  return is_wide and extra .. struct.pack('<I2', math.floor(priority / LOW_BITS)) or extra
end

local function wide_flag(priority)
  return priority >= LOW_BITS and WIDE or 0
end

local function open_extra(h)
  if h.tags then return end
  h.tags, h.key, h.hash = '', '', ''
  if h.extra ~= '' then h.tags, h.key, h.hash = struct.unpack(EXTRA, h.extra) end
end

local function pack_moving(h, worker_size)
  return struct.pack(MOVING, h.status, h.flags, h.category, h.attempts, h.max_attempts, h.crashes,
    h.deferrals, h.updated_at, h.started_at, h.finished_at, h.lease_until, h.fence, h.settled_fence,
    h.updates_order, worker_size)
end

local function pack_stays(h)
  return struct.pack(STAYS, h.created_at, h.run_at, h.lifetime, h.priority % LOW_BITS, #h.group, h.group,
    #h.type, h.type, #h.extra, h.extra)
end

local function pack_header(h)
  return pack_moving(h, #h.worker) .. h.age .. pack_stays(h) .. h.worker
end

-- Tables that are made with all their fields are made at once; one that grows is made again and again.
local function unpack_moving(packed)
  local status, flags, category, attempts, max_attempts, crashes, deferrals, updated_at, started_at,
    finished_at, lease_until, fence, settled_fence, updates_order, worker_size =
    struct.unpack(MOVING, packed)
  return {
    status = status, flags = flags, category = category, attempts = attempts,
    max_attempts = max_attempts, crashes = crashes, deferrals = deferrals, updated_at = updated_at,
    started_at = started_at, finished_at = finished_at, lease_until = lease_until, fence = fence,
    settled_fence = settled_fence, updates_order = updates_order, worker_size = worker_size,
  }
end

local function unpack_header(packed)
  local status, flags, category, attempts, max_attempts, crashes, deferrals, updated_at, started_at,
    finished_at, lease_until, fence, settled_fence, updates_order, _, age, created_at, run_at,
    lifetime, priority, group, type_name, extra, worker_at = struct.unpack(ALL, packed)
  if bit.band(flags, WIDE) ~= 0 then
    priority = priority + LOW_BITS * struct.unpack('<I2', extra, #extra - 1)
  end
  return {
    status = status, flags = flags, category = category, attempts = attempts,
    max_attempts = max_attempts, crashes = crashes, deferrals = deferrals, updated_at = updated_at,
    started_at = started_at, finished_at = finished_at, lease_until = lease_until, fence = fence,
    settled_fence = settled_fence, updates_order = updates_order, age = age, created_at = created_at,
    run_at = run_at, lifetime = lifetime, priority = priority, group = group, type = type_name,
    extra = extra, worker = sub(packed, worker_at),
  }
end

-- A job that nothing has happened to yet.
local function new_header()
  return {
    status = QUEUED, flags = 0, category = 0, attempts = 0, max_attempts = 0, crashes = 0,
    deferrals = 0, updated_at = -1, started_at = -1, finished_at = -1, lease_until = -1, fence = 0,
    settled_fence = -1, updates_order = 0, age = '', created_at = now, run_at = now, lifetime = KEPT,
    priority = 0, group = '', type = '', extra = '', worker = '',
  }
end

-- Of a packed header: what is asked for without unpacking it.
local function status_in(packed)
  return string.byte(packed)
end
local function age_in(packed)
  return sub(packed, MOVING_SIZE + 1, AGE_END)
end
local function group_in(packed)
  local low, high = string.byte(packed, GROUP_AT, GROUP_AT + 1)
  return sub(packed, GROUP_AT + 2, GROUP_AT + 1 + low + 256 * high)
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
local function age_of(seq)
  return format('%014x', seq)
end
local function seq_of(age)
  return tonumber(age, 16)
end
local function member_of(seq, id)
  return age_of(seq) .. id
end
local function id_of(member)
  return sub(member, 15)
end
