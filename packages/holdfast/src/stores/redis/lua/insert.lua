#!lua
-- Stores new jobs, each or all of one call: a script is one step.
--
-- KEYS     root, then the queues
-- ARGV     clock; evenIfFull 0|1; ask the other queues whether they know an id 0|1; jobs (see
--          insert-one.lua)
-- returns  { queues that are new, queues to wake, { refused: number of the job, outcome, id, status or
--          bound, number, … } }
-- include: clock header queue ring places job insert-one
local even_if_full, elsewhere = arg() == '1', arg() == '1'
local jobs, refused = read_new_jobs(), {}
read_each_header(jobs.shapes, jobs.ids)
if elsewhere then ask_every_queue(jobs.ids) end
for index = 1, #jobs.ids do
  local refusal = insert_one(jobs, index, even_if_full, elsewhere)
  if refusal then
    refused[#refused + 1] = index
    for part = 1, 3 do refused[#refused + 1] = refusal[part] end
  end
end
write_added()
write_all()
return { made, woken_in_part(), refused }
