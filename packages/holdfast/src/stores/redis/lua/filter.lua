-- Which jobs are meant. Arguments: "-" for all, or "f" and then, each "" if not asked for: statuses
-- (letters of digits), delayed 0|1, has group 0|1, group, has type 0|1, type, has tag 0|1, tag,
-- category, has fingerprint 0|1, fingerprint, has worker 0|1, worker, retrying 0|1, from, to, finishedFrom,
-- finishedTo, frozenAt.
local function read_filter()
  if arg() == '-' then return nil end
  local f = { statuses = arg(), delayed = arg() }
  local has_group, group = arg(), arg()
  if has_group == '1' then f.group = group end
  local has_type, type_name = arg(), arg()
  if has_type == '1' then f.type = type_name end
  local has_tag, tag = arg(), arg()
  if has_tag == '1' then f.tag = '\0' .. tag .. '\0' end
  f.category = number_arg()
  local has_fingerprint, fingerprint = arg(), arg()
  if has_fingerprint == '1' then f.fingerprint = fingerprint end
  local has_worker, worker = arg(), arg()
  if has_worker == '1' then f.worker = worker end
  f.retrying, f.from, f.to = arg(), number_arg(), number_arg()
  f.finished_from, f.finished_to, f.frozen_at = number_arg(), number_arg(), number_arg()
  return f
end

-- The fingerprint is in the failure, not in the header.
local function has_fingerprint(q, id, h, fingerprint)
  local text = has(h, HAS_DETAILS) and redis.call('HGET', q.x, 'e' .. id)
  return text and cjson.decode(text).fingerprint == fingerprint
end

local function fits(q, id, h, f)
  if f.statuses ~= '' and not string.find(f.statuses, tostring(h.status), 1, true) then return false end
  if f.delayed ~= '' then
    if h.status ~= QUEUED or (h.run_at > now) ~= (f.delayed == '1') then return false end
  end
  if f.retrying ~= '' then
    if h.status ~= QUEUED or (h.attempts > 0) ~= (f.retrying == '1') then return false end
  end
  if f.finished_from or f.finished_to then
    if h.finished_at < 0 then return false end
    if f.finished_from and h.finished_at < f.finished_from then return false end
    if f.finished_to and h.finished_at >= f.finished_to then return false end
  end
  if f.worker and h.worker ~= f.worker then return false end
  if f.tag then open_extra(h) end
  if f.group and h.group ~= f.group then return false end
  if f.type and h.type ~= f.type then return false end
  if f.tag and not string.find(h.tags, f.tag, 1, true) then return false end
  if f.category and h.category ~= f.category then return false end
  if f.from and h.created_at < f.from then return false end
  if f.to and h.created_at >= f.to then return false end
  if f.frozen_at and (h.created_at > f.frozen_at or h.finished_at > f.frozen_at) then return false end
  return not f.fingerprint or has_fingerprint(q, id, h, f.fingerprint)
end
