-- How long finished jobs are kept. Arguments: counted sets of policies, and of each set for the statuses
-- succeeded, dead and cancelled: counted policies (olderThanMs or "", keep or ""); then for each queue the
-- number of its set. Most queues have the same set.
local function read_set()
  local set = {}
  for status = SUCCEEDED, CANCELLED do
    set[status] = {}
    for index = 1, number_arg() do
      local older, keep = tonumber(arg()), tonumber(arg())
      set[status][index] = { until_at = older and text_of(now - older), keep = keep }
    end
  end
  return set
end
local function read_sets()
  local sets, of = {}, {}
  for number = 1, number_arg() do sets[number] = read_set() end
  for index = 1, #KEYS - 1 do of[index] = sets[number_arg()] end
  return of
end

-- Both bounds cut off the old end of the shelf: the longer cut is how many are past.
local function past_count(shelf, policies)
  local past = 0
  for _, policy in ipairs(policies) do
    if policy.until_at then
      past = math.max(past, redis.call('ZCOUNT', shelf, '-inf', policy.until_at))
    end
    if policy.keep then past = math.max(past, redis.call('ZCARD', shelf) - policy.keep) end
  end
  return past
end
