-- The state as a table, and how it is written back. Only fields that changed are written.
-- Two clocks, and `wall`, what the server's clock said last; kept as distances from the first, which seldom change: `clock` follows the server (passes, rate, deadlines of the queue); `lease` is a stopwatch that stands still in a
-- pause (turns, presence, settling). Neither ever moves by more than half of what it measures in one look (`max_step`,
-- `max_lease_step`), so that a jump of the server's clock cannot end everything at once.
local TEXT_FIELDS = { 'epoch', 'status', 'killed', 'operator' }
local NUMBER_FIELDS = {
  'clock', 'wall_ahead', 'lease_behind', 'length', 'cursor', 'horizon', 'settled', 'raised_at', 'raise_step', 'share', 'units', 'pump_at',
  'hold_until', 'promised', 'latency', 'late_credit', 'sold', 'recover_until', 'reentry_until', 'begun_by', 'places_at', 'mapped_from',
  'rotated', 'ttl_at', 'pruned_at', 'config_version', 'max_step', 'max_lease_step',
  'short_until', 'claim_within', 'idle', 'renew_every', 'settle', 'grace', 'hold', 'manual', 'always', 'bucket',
  'admitted', 'counted_until', 'left', 'missed', 'lapsed', 'completed', 'revoked', 'expired', 'undelivered',
}
-- Limits may be unset: then they are nil here and '' in the hash.
local LIMIT_FIELDS = { 'rate', 'burst', 'max_active', 'inventory' }
local ALL_FIELDS = {}
for _, list in ipairs({ TEXT_FIELDS, NUMBER_FIELDS, LIMIT_FIELDS }) do
  for _, name in ipairs(list) do ALL_FIELDS[#ALL_FIELDS + 1] = name end
end
-- No look at the clock moves it further while people wait: longer than a hidden tab's poll (60 s).
local MAX_STEP_MS = 75000

-- How far the clock moves when the server's moved by `passed` ms to `wall_now`: as far, but a quarter faster or a tenth slower
-- until both agree again; never back, and never by more than `limit` in one look.
local function clock_step(passed, clock, wall_now, limit)
  local behind = wall_now - clock - passed
  local correction = behind > 0 and math.min(behind, math.floor(passed / 4)) or -math.min(-behind, math.floor(passed / 10))
  return math.min(limit, passed + correction)
end

-- What idle time may save up. Unset burst: a sixth of the rate (ten seconds' worth), at least one. A rate of 0 saves nothing.
local function bucket_units(rate, burst)
  if rate == 0 then return 0 end
  return math.max(1, burst or math.floor(rate / 6)) * UNITS
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
  s.old, s.wall, s.lease = old, s.clock + s.wall_ahead, s.clock - s.lease_behind
  return s
end

local function save_state(s)
  local changed = {}
  s.wall_ahead, s.lease_behind = s.wall - s.clock, s.clock - s.lease
  -- Until then, between two sweeps and with the clocks in agreement, join and touch may take their short ways.
  s.short_until = s.status == 'open' and s.wall == s.clock and s.pump_at or 0
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

local function count_people(s)
  s.ready, s.called, s.active = call('ZCARD', READY), call('ZCARD', CALLED), call('ZCARD', ACTIVE)
end

-- Moves time and fills the bucket at the rate in force until now. What is earned never exceeds either clock.
local function tick(s)
  count_people(s)
  local wall_now = server_ms()
  local passed = math.max(0, wall_now - s.wall)
  local waits = s.ready + s.called > 0 or s.recover_until > s.clock
  -- Silence while people are only inside, or while nobody is there, is no jump: those who wait ask at least once a minute.
  local limit = waits and s.max_step or math.huge
  if s.reentry_until > 0 then limit = math.min(limit, math.floor(s.settle / 2)) end
  local step = clock_step(passed, s.clock, wall_now, limit)
  if not waits and s.active == 0 then step = math.max(step, wall_now - s.clock) end
  s.wall, s.clock = wall_now, s.clock + step
  if s.status ~= 'paused' then s.lease = s.lease + math.min(passed, s.max_lease_step) end
  if s.rate then s.units = math.min(s.bucket, s.units + s.rate * math.min(passed, step)) end
end

-- After the settings changed: the bucket keeps what it holds, up to its new size; a rate that begins finds it full.
local function apply_settings(s, had_rate)
  s.max_step = math.min(MAX_STEP_MS, math.floor(s.idle / 2))
  s.max_lease_step = math.min(MAX_STEP_MS, math.floor(s.claim_within / 2), math.floor(s.grace / 2))
  s.bucket = s.rate and bucket_units(s.rate, s.burst) or 0
  if s.rate then s.units = had_rate and math.min(s.units, s.bucket) or s.bucket end
end

local function is_killed(s, epoch)
  return string.find(' ' .. s.killed .. ' ', ' ' .. epoch .. ' ', 1, true) ~= nil
end

-- How a generation began: by an operator's reset (tokens of older ones are strangers), by a loss, or as the first.
local BEGUN_BY_RESET, BEGUN_BY_LOSS, BEGUN_NEW = 0, 1, 2
local KEPT_KILLED = 32

-- Whether tokens of another generation were lost with the state, and not killed by a reset: they may come back.
local function is_lost_epoch(s, epoch)
  return s.begun_by ~= BEGUN_BY_RESET and epoch ~= s.epoch and not is_killed(s, epoch)
end

-- Whether a token of this generation shows that the state was set back to before it began. Once the loss is known, older
-- names are expected, whatever the clocks said when they were made.
local function is_from_ahead(s, epoch)
  if s.begun_by == BEGUN_BY_LOSS or epoch == s.epoch or is_killed(s, epoch) then return false end
  return #epoch > #s.epoch or (#epoch == #s.epoch and epoch > s.epoch)
end

-- A new generation: nothing of the old one is left but the limits, the clock, what the bucket holds and the names of the
-- generations that were reset last. `killed`: the name of the one that an operator ends now, or ''.
local function start_epoch(s, status, begun_by, killed)
  call('UNLINK', PLACES, PLACES_OLD, READY, SEEN, CALLED, ACTIVE, USED, LEFT, GONE, ENDED, CLAIMS, REENTRY)
  if killed ~= '' then
    local names = { killed }
    for name in string.gmatch(s.killed, '%S+') do
      if #names < KEPT_KILLED then names[#names + 1] = name end
    end
    s.killed = table.concat(names, ' ')
  end
  s.epoch, s.status = new_epoch(s.wall), status
  for _, name in ipairs({ 'length', 'cursor', 'horizon', 'settled', 'raised_at', 'raise_step', 'pump_at', 'hold_until', 'promised', 'sold',
    'late_credit', 'mapped_from', 'rotated', 'recover_until', 'reentry_until', 'admitted', 'left', 'missed', 'lapsed',
    'completed', 'revoked', 'expired', 'undelivered' }) do
    s[name] = 0
  end
  s.share, s.latency, s.begun_by = 1000, 5000, begun_by
  count_people(s)
end

-- Redis lost the state, or was set back behind a token that we signed: nobody is admitted until every pass that may exist has
-- run out or has been taken over, and old places come back in their old order. A pause stays one.
local function start_recovery(s)
  start_epoch(s, s.status == 'paused' and 'paused' or 'recovering', BEGUN_BY_LOSS, '')
  s.units = 0
  -- A clock that was set back too is behind the passes that it must outlast.
  s.clock = math.max(s.clock, s.wall)
  s.reentry_until = s.clock + s.settle
  s.recover_until = s.clock + math.max(s.idle + FREE_AFTER_MS, s.settle)
end
