#!lua flags=allow-oom
-- The numbers of each queue. Nothing is counted one by one. The clock is kept: what was counted as due
-- stays due.
--
-- KEYS     root, then the queues
-- ARGV     clock, how many lines of a queue and jobs of a line are asked since when they wait
-- returns  per queue: ready, delayed, processing, succeeded, dead, cancelled, retrying, since when the
--          longest waiting job is ready as text, or ""
-- include: clock header queue ring places
local depth = number_arg()

-- Where `run_at` is in a header, from 1 on (header.lua).
local RUN_AT = 101

-- An index by `run_at` would cost every job a write more when it comes and one when it is leased. So the first
-- jobs of the first lines are asked: in most lines the first is the one that waits longest.
local function oldest_ready(q, has_due)
  local first_due = has_due and redis.call('ZRANGE', q.d, 0, 0, 'WITHSCORES')[2]
  local oldest = tonumber(first_due) or FOREVER
  for _, ring in ipairs({ q.g, q.gc, q.gp, q.gpc, q.gf, q.gr }) do
    -- Of very many queues one line each.
    if depth == 1 and oldest < FOREVER then break end
    for _, group in ipairs(redis.call('ZRANGE', ring, 0, depth - 1)) do
      local ids = redis.call('ZRANGE', q.r .. group, 0, depth - 1)
      for index, member in ipairs(ids) do ids[index] = id_of(member) end
      for _, packed in ipairs(#ids > 0 and redis.call('HMGET', q.h, unpack(ids)) or {}) do
        oldest = math.min(oldest, (struct.unpack('<d', packed, RUN_AT)))
      end
    end
  end
  return oldest < FOREVER and text_of(oldest) or ''
end

local reply = {}
for index = 1, #KEYS - 1 do
  local q = queue_at(index)
  local processing, delayed = redis.call('ZCARD', q.a), redis.call('ZCARD', q.d)
  local due = delayed > 0 and redis.call('ZCOUNT', q.d, '-inf', text_of(now)) or 0
  local ends = {}
  local finished = 0
  for _, letter in ipairs({ 's', 'd', 'c' }) do
    ends[#ends + 1] = redis.call('ZCARD', q.f .. letter)
    finished = finished + ends[#ends]
  end
  local ready = redis.call('ZCARD', q.i) - processing - delayed - finished + due
  local retrying = redis.call('ZCARD', q.rt)
  for _, number in ipairs({ ready, delayed - due, processing, ends[1], ends[2], ends[3], retrying }) do
    reply[#reply + 1] = number
  end
  reply[#reply + 1] = ready > 0 and oldest_ready(q, due > 0) or ''
end
save_clock()
return reply
