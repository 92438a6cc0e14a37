-- Tells the whole state of one queue as JSON, and then sets it back to the one that is kept. Strings are hex.
-- KEYS  all keys of the scope, the state (a hash whose fields never go away) first; last: where a told state is kept
-- ARGV  the fields of the state that matter; the others are neither told nor set back
local function hex(bytes) return (string.gsub(bytes, '.', function(c) return string.format('%02x', string.byte(c)) end)) end
local function bytes(digits) return (string.gsub(digits, '..', function(d) return string.char(tonumber(d, 16)) end)) end

local function tell(key)
  local kind = redis.call('TYPE', key).ok
  if kind == 'hash' then return { kind, redis.call('HGETALL', key) } end
  if kind == 'zset' then return { kind, redis.call('ZRANGE', key, 0, -1, 'WITHSCORES') } end
  if kind == 'string' then return { kind, hex(redis.call('GET', key)) } end
  return { kind }
end

local function set(key, kind, what)
  if kind == 'hash' then redis.call('HSET', key, unpack(what)) end
  if kind == 'string' then redis.call('SET', key, bytes(what)) end
  if kind == 'zset' then
    for i = 1, #what, 2 do redis.call('ZADD', key, what[i + 1], what[i]) end
  end
end

-- Of the state only what has changed is written.
local function set_back(now, kept)
  local changed = {}
  for i, name in ipairs(ARGV) do
    if now[i] ~= kept[i] then changed[#changed + 1], changed[#changed + 2] = name, kept[i] end
  end
  if #changed > 0 then redis.call('HSET', KEYS[1], unpack(changed)) end
end

local told = { { 'fields', redis.call('HMGET', KEYS[1], unpack(ARGV)) } }
for i = 2, #KEYS - 1 do told[i] = tell(KEYS[i]) end
local kept = redis.call('GET', KEYS[#KEYS])
if kept then
  kept = cjson.decode(kept)
  set_back(told[1][2], kept[1][2])
  redis.call('DEL', unpack(KEYS, 2, #KEYS - 1))
  for i = 2, #KEYS - 1 do set(KEYS[i], kept[i][1], kept[i][2]) end
end
return cjson.encode(told)
