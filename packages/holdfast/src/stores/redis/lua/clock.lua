-- The store's clock and its running number, for one root. Every script begins here.
--
-- KEYS[1] is `m` of the root: where clock and running number are kept. On one server the root is the store
-- itself, so that jobs of all queues have one order; in a cluster each queue is its own root. The other
-- keys are the queues' beginnings: keys that never exist. While a cluster moves the slot to another node,
-- a script with a key that is missing is refused on both of them (TRYAGAIN), before it begins. Else it
-- would answer for a queue of which a part is elsewhere.
--
-- ARGV[1] is a test's clock in microseconds; empty means the server's own.
--
-- The clock never runs backwards, even if the host's does: the last instant at which something was
-- written is kept. If the host's falls back by more than a second it was ahead. Then this one goes on from
-- where it was (`ahead`, when the host's said `wall`) at nine tenths of the pace, until the host's has
-- caught up: nothing stands still, and nothing happens twice. A fence, a version and a place in line are
-- at least the clock in microseconds, so that they grow even if the server lost its memory.
local root = string.sub(KEYS[1], 1, -2)
local kept = redis.call('HMGET', KEYS[1], 'clock', 'seq', 'ahead', 'wall')
local micros = tonumber(ARGV[1])
if not micros then
  local time = redis.call('TIME')
  micros = tonumber(time[1]) * 1000000 + tonumber(time[2])
end
local mark, ahead, wall = tonumber(kept[1]) or 0, kept[3] and tonumber(kept[3]), tonumber(kept[4])
if micros >= mark then
  ahead = nil
else
  local reading = micros
  micros = mark
  if ahead and reading >= wall - 1000000 then
    micros = math.max(mark, math.floor(ahead + 0.9 * (reading - wall)))
  elseif ahead or mark - reading > 1000000 then
    ahead, wall = mark, reading
  end
end
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
  redis.call('HSET', KEYS[1], 'clock', text_of(micros), 'seq', text_of(last_seq))
  if ahead then
    redis.call('HSET', KEYS[1], 'ahead', text_of(ahead), 'wall', text_of(wall))
  elseif kept[3] then
    redis.call('HDEL', KEYS[1], 'ahead', 'wall')
  end
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
