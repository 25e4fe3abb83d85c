-- Which jobs are meant. Arguments: "-" for all, or "f" and then, each "" if not asked for: statuses
-- (letters of digits), delayed 0|1, has group 0|1, group, has type 0|1, type, has tag 0|1, tag,
-- category, from, to, frozenAt.
local function read_filter()
  if arg() == '-' then return nil end
  local f = { statuses = arg(), delayed = arg() }
  local has_group, group = arg(), arg()
  if has_group == '1' then f.group = group end
  local has_type, type_name = arg(), arg()
  if has_type == '1' then f.type = type_name end
  local has_tag, tag = arg(), arg()
  if has_tag == '1' then f.tag = '\0' .. tag .. '\0' end
  f.category, f.from, f.to, f.frozen_at = number_arg(), number_arg(), number_arg(), number_arg()
  return f
end

local function fits(h, f)
  if f.statuses ~= '' and not string.find(f.statuses, tostring(h.status), 1, true) then return false end
  if f.delayed ~= '' then
    if h.status ~= QUEUED or (h.run_at > now) ~= (f.delayed == '1') then return false end
  end
  if f.tag then open_extra(h) end
  if f.group and h.group ~= f.group then return false end
  if f.type and h.type ~= f.type then return false end
  if f.tag and not string.find(h.tags, f.tag, 1, true) then return false end
  if f.category and h.category ~= f.category then return false end
  if f.from and h.created_at < f.from then return false end
  if f.to and h.created_at >= f.to then return false end
  if f.frozen_at and (h.created_at > f.frozen_at or h.finished_at > f.frozen_at) then return false end
  return true
end
