-- touch: a sign of life from a place, and the claim when its turn has come.
-- ARGV  3 epoch   4 position   5 visitor   6 '1' if the visitor wants in now
-- Answers as visit.lua, or: {'epoch'}: the place is of another epoch: join with it   {'recovering', retry ms}   {'missing'}
--@include head

local f = call('HMGET', STATE, 'epoch', 'clock', 'status', 'length', 'cursor', 'horizon', 'config_version', 'rate', 'max_active',
  'wall', 'pump_at', 'lease', 'units', 'burst', 'claim_within', 'idle', 'renew_every', 'latency', 'admitted', 'max_step',
  'max_lease_step', 'mapped_from')
if not f[1] then return { { 'missing' }, {} } end
if f[1] ~= ARGV[3] then return { { 'epoch' }, { f[1], f[2], f[3], f[4], f[5], f[6], f[7], f[8], f[9] } } end
-- A called visitor claims, between two sweeps, with a token at hand: what visit.lua does, without the rest of the state.
local deadline = ARGV[6] == '1' and f[3] == 'open' and call('ZSCORE', CALLED, ARGV[4])
if deadline then
  local wall_now, clock, rate = server_ms(), tonumber(f[2]), tonumber(f[8])
  local passed = math.max(0, wall_now - f[10])
  local step = clock_step(passed, clock, wall_now, tonumber(f[20]))
  local lease, units = f[12] + math.min(passed, f[21]), f[13]
  local is_full = false
  clock, deadline = clock + step, tonumber(deadline)
  if rate then
    units = math.min(bucket_units(rate, tonumber(f[14])), units + rate * math.min(passed, step))
    is_full = units < units_needed(lease, tonumber(f[15]), deadline)
    units = units - UNITS
  end
  if clock < tonumber(f[11]) and deadline > lease and not is_full
      and (tonumber(ARGV[4]) <= tonumber(f[22]) or call('HGET', PLACES, ARGV[5]) == ARGV[4]
        or call('HGET', PLACES_OLD, ARGV[5]) == ARGV[4]) then
    local latency, expires = f[18], clock + f[16]
    if deadline % 1 == 0 then
      latency = text(math.floor((latency * 7 + math.max(0, math.min(f[15], f[15] - (deadline - lease)))) / 8))
    end
    call('ZREM', CALLED, ARGV[4])
    call('ZADD', ACTIVE, text(expires + FREE_AFTER_MS), ARGV[4])
    call('SETBIT', USED, ARGV[4], '1')
    local now = text(clock)
    call('ZADD', CLAIMS, now, ARGV[4])
    call('HSET', STATE, 'clock', now, 'wall', text(wall_now), 'lease', text(lease), 'units', rate and text(units) or units,
      'latency', latency, 'admitted', text(f[19] + 1))
    return { { 'inside', ARGV[4], text(expires), text(clock + f[17]) }, { f[1], now, f[3], f[4], f[5], f[6], f[7], f[8], f[9] } }
  end
end
--@include state
--@include pump
--@include visit
--@include snapshot_reply

local s = load_state()
tick(s)
local position, verdict = tonumber(ARGV[4]), nil
if was_set_back(s, position, ARGV[5]) then
  start_recovery(s)
  come_back(ARGV[5], ARGV[4])
  verdict = { 'recovering', text(s.reentry_until - s.clock) }
else
  pump(s)
  verdict = visit(s, position, ARGV[6] == '1')
end
save_state(s)
return { verdict, short_snapshot(s) }
