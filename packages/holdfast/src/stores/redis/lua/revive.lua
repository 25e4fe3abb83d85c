#!lua
-- Dead and cancelled jobs only: queued again, same id, history and fence.
--
-- ARGV     clock, has payload 0|1, payload, has hash 0|1, hash, attempts, runAt or "", delayMs,
--          has by 0|1, by; then as change-each.lua
-- include: clock header queue ring places job filter change-each
local has_payload, payload, has_hash, hash = arg() == '1', arg(), arg() == '1', arg()
local attempts, run_at, delay_ms = number_arg(), tonumber(arg()), number_arg()
local has_by, by = arg(), arg()
by = has_by == '1' and by or nil

-- The body is "-" and the payload, or "+", a line of JSON and the payload (body.ts).
local function replace_payload(q, id, h)
  local body = redis.call('HGET', q.b, id)
  local head = string.sub(body, 1, 1) == '-' and '-' or string.match(body, '^[^\n]*\n')
  redis.call('HSET', q.b, id, head .. payload)
  if #head + #payload > SMALL then note_large(q, seq_of(h.age)) end
  set_detail(q, id, h, 'c', nil)
  redis.call('UNLINK', q.base .. 's:' .. id)
  unset(h, HAS_STEPS)
  if not (has(h, HAS_KEY) and has_hash) then return end
  open_extra(h)
  h.hash = hash
  h.extra = pack_extra(h.tags, h.key, hash, h.priority)
  local taken = own_key(q, id, h)
  if taken then write_key(q, h.key, taken.expires_at, id, hash) end
end

return change_each(function(q, id, h)
  if h.status ~= DEAD and h.status ~= CANCELLED then return REFUSED, h.status end
  leave_finished(q, id, h)
  if has_payload then replace_payload(q, id, h) end
  h.crashes, h.deferrals = 0, 0
  h.max_attempts = h.attempts + attempts
  set_detail(q, id, h, 'w', nil)
  set_detail(q, id, h, 'y', by)
  requeue(q, id, h, run_at or instant_after(delay_ms))
  -- Only a key "until-finished" was given up. If another job has it by now, this one runs without.
  if has(h, ENDS_KEY) then take_key(q, id, h) end
  save_header(q, id, h)
  return DONE, QUEUED
end)
