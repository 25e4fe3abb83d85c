#!lua flags=no-writes
-- Which queues have something to prune: a few questions for each, so that thousands that have nothing cost
-- little.
--
-- KEYS     root, then the queues
-- ARGV     clock; retention (see retention.lua)
-- returns  queue, when its oldest job to delete finished as text, or "" if only something has ended, …
-- include: clock header queue ring places retention
local REMEMBERED_MS = 3600000
local sets = read_sets()
local now_text = text_of(now)
local reply = {}

local function oldest_past(q, set)
  local oldest = nil
  for status, letter in pairs(STATUS_LETTER) do
    local policies = set[status]
    local shelf = #policies > 0 and q.f .. letter
    if shelf and past_count(shelf, policies) > 0 then
      local first = tonumber(redis.call('ZRANGE', shelf, 0, 0, 'WITHSCORES')[2])
      if first and (not oldest or first < oldest) then oldest = first end
    end
  end
  return oldest
end

local function has_ended(q)
  local first = redis.call('LINDEX', q.te, 0)
  if first and tonumber(string.match(first, '^%S+')) <= now then return true end
  for _, key in ipairs({ q.ke, q.hu, q.w }) do
    if redis.call('ZCOUNT', key, '-inf', now_text) > 0 then return true end
  end
  return false
end

-- One without jobs may be forgotten; if that is known already, when it is time.
local function may_be_forgotten(q)
  local empty_at = tonumber(redis.call('HGET', q.m, 'emptyAt'))
  return not empty_at or empty_at <= now - REMEMBERED_MS
end

for index = 1, #KEYS - 1 do
  local q = setmetatable({ base = KEYS[index + 1] }, KEY_OF)
  local oldest = oldest_past(q, sets[index])
  local has_more = redis.call('EXISTS', q.te, q.ke, q.hu, q.w) > 0
  if oldest or (has_more and has_ended(q))
    or (not has_more and redis.call('EXISTS', q.i) == 0 and may_be_forgotten(q)) then
    reply[#reply + 1] = index
    reply[#reply + 1] = oldest and text_of(oldest) or ''
  end
end
return reply
