-- Records under a root: `rb` key -> version, end (-1: never) and value; `ri` the keys in their order;
-- `re` those that end, by when. Keys are in the form that sorts (sortable-key.ts).
local function read_record(key)
  local packed = redis.call('HGET', root .. 'rb', key)
  if not packed then return nil end
  local version, expires_at = struct.unpack('<dd', packed)
  if expires_at >= 0 and expires_at <= now then return nil end
  return packed, version
end

local function delete_record(key)
  redis.call('HDEL', root .. 'rb', key)
  redis.call('ZREM', root .. 'ri', key)
  redis.call('ZREM', root .. 're', key)
end
