-- The state as a table, and how it is written back. Only fields that changed are written.
local TEXT_FIELDS = { 'epoch', 'status', 'killed', 'operator' }
local NUMBER_FIELDS = {
  'clock', 'wall', 'lease', 'length', 'cursor', 'horizon', 'settled', 'raised_at', 'raise_step', 'share', 'units', 'pump_at',
  'hold_until', 'latency', 'sold', 'recover_until', 'reentry_until', 'places_at', 'ttl_at', 'config_version',
  'claim_within', 'idle', 'renew_every', 'settle', 'grace', 'hold', 'manual', 'always',
  'admitted', 'left', 'missed', 'completed', 'revoked', 'expired', 'undelivered',
}
-- Limits may be unset: then they are nil here and '' in the hash.
local LIMIT_FIELDS = { 'rate', 'burst', 'max_active', 'inventory' }
local ALL_FIELDS = {}
for _, list in ipairs({ TEXT_FIELDS, NUMBER_FIELDS, LIMIT_FIELDS }) do
  for _, name in ipairs(list) do ALL_FIELDS[#ALL_FIELDS + 1] = name end
end

local function load_state()
  local values = call('HMGET', STATE, unpack(ALL_FIELDS))
  if not values[1] then return nil end
  local s, old = {}, {}
  for i, name in ipairs(ALL_FIELDS) do
    local raw = values[i]
    old[name] = raw
    if i <= #TEXT_FIELDS then s[name] = raw or ''
    elseif i <= #TEXT_FIELDS + #NUMBER_FIELDS then s[name] = tonumber(raw or 0) or 0
    else s[name] = tonumber(raw or '') end
  end
  s.old = old
  return s
end

local function save_state(s)
  local changed = {}
  for i, name in ipairs(ALL_FIELDS) do
    local value = s[name]
    local raw = value == nil and '' or (i <= #TEXT_FIELDS and value or text(value))
    if raw ~= s.old[name] then
      changed[#changed + 1] = name
      changed[#changed + 1] = raw
      s.old[name] = raw
    end
  end
  if #changed > 0 then call('HSET', STATE, unpack(changed)) end
end

local function base36(number)
  local digits, out = '0123456789abcdefghijklmnopqrstuvwxyz', ''
  repeat
    local digit = number % 36
    out = string.sub(digits, digit + 1, digit + 1) .. out
    number = (number - digit) / 36
  until number == 0
  return out
end

-- Microseconds of the server's clock and 24 random bits: no two generations share a name, not even after a flush.
local function new_epoch(wall_now)
  local micros = wall_now * 1000
  if ARGV[1] == '' then
    local t = call('TIME')
    micros = tonumber(t[1]) * 1000000 + tonumber(t[2])
  end
  return base36(micros) .. string.sub(ARGV[2], 1, 6)
end

-- Unset burst: a sixth of the rate (ten seconds' worth), at least one.
local function bucket_size(s)
  return (s.burst or math.max(1, math.floor(s.rate / 6))) * UNITS
end

local function count_people(s)
  s.ready, s.called, s.active = call('ZCARD', READY), call('ZCARD', CALLED), call('ZCARD', ACTIVE)
end

-- Moves time and fills the bucket at the rate in force until now.
local function tick(s)
  count_people(s)
  local wall_now = server_ms()
  local people = s.ready + s.called + s.active > 0 or s.length > s.cursor
  local step, earning = clock_step(wall_now, s.wall, s.clock, people)
  s.wall, s.clock = wall_now, s.clock + step
  if s.status ~= 'paused' then s.lease = s.lease + step end
  if s.rate then s.units = math.min(bucket_size(s), s.units + s.rate * earning) end
end

local function is_killed(s, epoch)
  return string.find(' ' .. s.killed .. ' ', ' ' .. epoch .. ' ', 1, true) ~= nil
end

-- A new generation: nothing of the old one is left but the limits, the clock and the names of the last eight generations.
local function start_epoch(s, status, killed)
  call('UNLINK', PLACES, PLACES_OLD, READY, SEEN, CALLED, ACTIVE, USED, LEFT, GONE, ENDED, CLAIMS, REENTRY)
  if killed ~= '' then
    local names = { killed }
    for name in string.gmatch(s.killed, '%S+') do
      if #names < 8 then names[#names + 1] = name end
    end
    s.killed = table.concat(names, ' ')
  end
  s.epoch, s.status = new_epoch(s.wall), status
  for _, name in ipairs({ 'length', 'cursor', 'horizon', 'settled', 'raised_at', 'raise_step', 'pump_at', 'hold_until', 'sold',
    'recover_until', 'reentry_until', 'admitted', 'left', 'missed', 'completed', 'revoked', 'expired', 'undelivered' }) do
    s[name] = 0
  end
  s.share, s.latency = 1000, 5000
  s.units = s.rate and bucket_size(s) or 0
  count_people(s)
end

-- Redis lost the state, or was set back behind a token that we signed: nobody is admitted until every pass that may exist has
-- run out or has been taken over, and old places come back in their old order.
local function start_recovery(s)
  start_epoch(s, 'recovering', '')
  s.units = 0
  s.reentry_until = s.clock + s.settle
  s.recover_until = s.clock + math.max(s.idle + 5000, s.settle)
end

-- Answers to request ids, so that a repeated call changes nothing. At most 256, none older than ten minutes beyond that.
local function remember(s, request_id, answer)
  if call('HLEN', REQUESTS) >= 256 then
    local all = call('HGETALL', REQUESTS)
    for i = 1, #all, 2 do
      if tonumber(string.match(all[i + 1], '^%d+')) < s.clock - 600000 then call('HDEL', REQUESTS, all[i]) end
    end
  end
  call('HSET', REQUESTS, request_id, text(s.clock) .. ' ' .. answer)
end
