#!lua
-- Stores one new job without a key and leases it to a worker that asks at the same moment: what insert and
-- lease would do one after the other, where nothing is in the way. It writes no place among the ready jobs
-- and no turn of its line, because the job would leave both at once.
--
-- KEYS     root, queue
-- ARGV     clock; what is asked for (leasing.lua); evenIfFull 0|1; ask the other queues whether they know
--          an id 0|1; the job (insert-one.lua)
-- returns  false if anything is in the way, and then nothing has happened; else what lease.lua returns
-- include: clock header queue ring places gates job insert-one leasing
local _, elsewhere = arg(), arg() == '1'
local jobs = read_new_jobs()
local shape, id, body = jobs.shapes[1], jobs.ids[1], jobs.bodies[1]
local group = shape.h.group

local function fits()
  return at_most > 0 and not elsewhere and shape.h.run_at <= now
    and (not bytes_left or #body <= bytes_left or is_first_free)
end

-- No hold and no cap, and no job that comes before this one.
local function is_free()
  local kept = kept_of(q)
  if not kept.made or kept.empty_at then return false end
  if kept.held_until or kept.gated or kept.max_active or kept.max_per_group or kept.max_waiting then return false end
  return redis.call('EXISTS', q.g, q.gc, q.gp, q.gpc, q.gf, q.gr) == 0
end

local due_at = next_due()
if not fits() or not is_free() or due_at <= now or refusal_of(q, id) then return false end

local seq = next_seq()
local age = age_of(seq)
add_job(q, id, seq, body)
write_added()
redis.call('ZADD', q.n, 0, group)
q.taken[group] = 1
start_jobs({ id }, { age .. id }, { shape.before .. age .. shape.after }, { body })
note_hunger()
save_clock()
return answer_jobs({ due_at < FOREVER and text_of(due_at - now) or '', 0, 0 })
