#!lua flags=no-writes
-- The ids of the jobs of one queue that fit a filter, by insertion. Looks at so many jobs at most.
--
-- KEYS     root, queue
-- ARGV     clock, newest 0|1, where to begin (a score of ZRANGE), how many, how many to look at; filter
-- returns  { the number of the last job looked at, or "" if there is none beyond, id, number, … }
-- include: clock header queue ring places filter
local q = queue_at(1)
local is_newest, from, limit, look = arg() == '1', arg(), number_arg(), number_arg()
local filter = read_filter()
local CHUNK = 100
local reply, found, looked = { '' }, 0, 0
local finish = is_newest and '-inf' or '+inf'
while true do
  local page
  if is_newest then
    page = redis.call('ZRANGE', q.i, from, finish, 'BYSCORE', 'REV', 'LIMIT', 0, CHUNK, 'WITHSCORES')
  else
    page = redis.call('ZRANGE', q.i, from, finish, 'BYSCORE', 'LIMIT', 0, CHUNK, 'WITHSCORES')
  end
  if #page == 0 then return reply end
  local ids = {}
  for index = 1, #page, 2 do ids[#ids + 1] = page[index] end
  local headers = redis.call('HMGET', q.h, unpack(ids))
  for index, id in ipairs(ids) do
    local h = unpack_header(headers[index])
    looked = looked + 1
    if not filter or fits(h, filter) then
      reply[#reply + 1] = id
      reply[#reply + 1] = text_of(seq_of(h.age))
      found = found + 1
    end
    if found >= limit or looked >= look then
      reply[1] = text_of(seq_of(h.age))
      return reply
    end
    from = '(' .. text_of(seq_of(h.age))
  end
end
