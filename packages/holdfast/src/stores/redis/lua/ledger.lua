-- The ledger under a root: `eb` id -> packed entry, `ei` the entries by time, then by age; the same for the
-- entries of a kind in `ek:<kind>` and those about a job in `ej:<job>`.
-- An entry: time, when it was amended (-1: never), running number, state, body, and what never
-- changes as JSON that is made and read by the driver's side, and looked into by filters.
local ENTRY = '<dddI4c0I4c0I4c0'

local function pack_entry(e)
  return struct.pack(ENTRY, e.at, e.amended_at, e.seq, #e.state, e.state, #e.body, e.body,
    #e.rest, e.rest)
end

local function unpack_entry(packed)
  local e = {}
  e.at, e.amended_at, e.seq, e.state, e.body, e.rest = struct.unpack(ENTRY, packed)
  return e
end

-- Arguments of one entry: id, time or "", state, body, rest, kind, job or "".
local function read_entry()
  local id, entry_at = arg(), tonumber(arg())
  return id, { at = entry_at or now, amended_at = -1, state = arg(), body = arg(), rest = arg(),
    kind = arg(), job = arg() }
end

local function list_entry(base, e, member)
  redis.call('ZADD', base .. 'ei', e.at, member)
  redis.call('ZADD', base .. 'ek:' .. e.kind, e.at, member)
  if e.job ~= '' then redis.call('ZADD', base .. 'ej:' .. e.job, e.at, member) end
end

local function drop_entry(base, id)
  local packed = redis.call('HGET', base .. 'eb', id)
  if not packed then return 0 end
  local e = unpack_entry(packed)
  local rest, member = cjson.decode(e.rest), member_of(e.seq, id)
  redis.call('HDEL', base .. 'eb', id)
  redis.call('ZREM', base .. 'ei', member)
  redis.call('ZREM', base .. 'ek:' .. rest.kind, member)
  -- What is null in JSON is no string here.
  if type(rest.jobId) == 'string' then redis.call('ZREM', base .. 'ej:' .. rest.jobId, member) end
  return 1
end

-- A storm of failures must not fill the memory: the oldest go when one is added. After an upgrade there may be
-- more, and those go a few at a time.
local MOST_FAILURES, DROPPED_AT_ONCE = 10000, 3

local function append_entry(base, id, e)
  if redis.call('HEXISTS', base .. 'eb', id) == 1 then return 0 end
  e.seq = next_seq()
  redis.call('HSET', base .. 'eb', id, pack_entry(e))
  list_entry(base, e, member_of(e.seq, id))
  if e.kind == 'failure' then
    local listed = base .. 'ek:failure'
    local over = math.min(redis.call('ZCARD', listed) - MOST_FAILURES, DROPPED_AT_ONCE)
    for _, member in ipairs(over > 0 and redis.call('ZRANGE', listed, 0, over - 1) or {}) do
      drop_entry(base, id_of(member))
    end
  end
  return 1
end
