#!lua
-- Stores new jobs, each or all of one call: a script is one step.
--
-- KEYS     root, then the queues
-- ARGV     clock; evenIfFull 0|1; ask the other queues whether they know an id 0|1; jobs (see
--          insert-one.lua)
-- returns  { queues that are new, queues to wake, { outcome, id, status or bound, outcome, … } }
-- include: clock header queue job insert-one
local even_if_full, elsewhere = arg() == '1', arg() == '1'
local jobs, ids, all_ids, reply = {}, {}, {}, {}
while at < #ARGV do
  local job = read_new_job()
  jobs[#jobs + 1] = job
  all_ids[#all_ids + 1] = job.id
  local of_queue = ids[job.q] or {}
  of_queue[#of_queue + 1] = job.id
  ids[job.q] = of_queue
end
for q, of_queue in pairs(ids) do read_headers(q, of_queue) end
if elsewhere then ask_every_queue(all_ids) end
for _, job in ipairs(jobs) do
  local result = insert_one(job, even_if_full, elsewhere)
  for part = 1, 3 do reply[#reply + 1] = result[part] end
end
write_added()
write_all()
return { made, woken(), reply }
