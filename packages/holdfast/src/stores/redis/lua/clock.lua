-- The store's clock and its running number, for one root. Every script begins here.
--
-- KEYS[1] is the root: where clock and running number are kept. On one server that is the store
-- itself, so that jobs of all queues have one order; in a cluster each queue is its own root.
-- ARGV[1] is a test's clock in microseconds; empty means the server's own.
--
-- The clock never runs backwards, even if the host's does: the last instant at which something was
-- written is kept. A fence, a version and a place in line are at least the clock in microseconds, so
-- that they grow even if the server lost its memory.
local root = KEYS[1]
local kept = redis.call('HMGET', root .. 'm', 'clock', 'seq')
local micros = tonumber(ARGV[1])
if not micros then
  local time = redis.call('TIME')
  micros = tonumber(time[1]) * 1000000 + tonumber(time[2])
end
micros = math.max(micros, tonumber(kept[1]) or 0)
local now = math.floor(micros / 1000)
local last_seq = tonumber(kept[2]) or 0

local function next_seq()
  last_seq = math.max(last_seq + 1, micros)
  return last_seq
end

local function fence_after(last)
  return math.max(last + 1, micros)
end

-- Fractions round up: what was asked is never undercut.
local function instant_after(ms)
  return now + math.max(0, math.ceil(ms))
end

-- Lua prints numbers with 14 digits only.
local function text_of(number)
  return string.format('%.17g', number)
end

-- Every script that writes ends with this.
local function save_clock()
  redis.call('HSET', root .. 'm', 'clock', text_of(micros), 'seq', text_of(last_seq))
end

-- Reads the arguments one after another.
local at = 1
local function arg()
  at = at + 1
  return ARGV[at]
end
local function number_arg()
  return tonumber(arg())
end
