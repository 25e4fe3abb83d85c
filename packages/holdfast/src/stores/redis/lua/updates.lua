-- What rides along with a renew or a settle, written under the same fence.
-- Arguments: is there any 0|1, and if so: has progress 0|1, progress, has checkpoint 0|1, checkpoint, counted logs, counted steps.
local NOTHING = {}
local function read_updates()
  if arg() == '0' then return nil end
  local updates = { logs = {}, steps = {} }
  local has_progress, progress = arg(), arg()
  if has_progress == '1' then updates.progress = progress end
  local has_checkpoint, checkpoint = arg(), arg()
  if has_checkpoint == '1' then updates.checkpoint = checkpoint end
  for index = 1, number_arg() do updates.logs[index] = arg() end
  for index = 1, number_arg() do updates.steps[index] = { arg(), arg() } end
  return updates
end

local function take_along(q, id, h, updates)
  if not updates then return end
  if updates.progress then set_detail(q, id, h, 'p', updates.progress) end
  if updates.checkpoint then set_detail(q, id, h, 'c', updates.checkpoint) end
  for _, text in ipairs(updates.logs) do add_log(q, id, h, text) end
  for _, step in ipairs(updates.steps) do add_step(q, id, h, step[1], step[2]) end
end

-- The job's header if this is its current holder. Every write of a worker begins here.
local function held_by(q, id, fence)
  local h = header_of(q, id)
  return h and h.status == PROCESSING and h.fence == fence and h or nil, h
end
