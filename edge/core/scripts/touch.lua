-- touch: a sign of life from a place, and the claim when its turn has come.
-- ARGV  3 epoch   4 position   5 visitor   6 '1' if the visitor wants in now
-- Answers as visit.lua, or: {'epoch'}: the place is of another epoch: join with it   {'missing'}
--@include head

local f = call('HMGET', STATE, 'epoch', 'clock', 'status', 'length', 'cursor', 'horizon', 'config_version', 'rate', 'max_active',
  'wall', 'pump_at', 'lease', 'units', 'burst', 'claim_within', 'idle', 'renew_every', 'latency', 'admitted')
if not f[1] then return { { 'missing' }, {} } end
if f[1] ~= ARGV[3] then return { { 'epoch' }, { f[1], f[2], f[3], f[4], f[5], f[6], f[7], f[8], f[9] } } end
-- A called visitor claims, between two sweeps, with a token at hand.
local called_until = ARGV[6] == '1' and f[3] == 'open' and call('ZSCORE', CALLED, ARGV[4])
if called_until then
  local wall_now, clock, rate = server_ms(), tonumber(f[2]), tonumber(f[8])
  local step, earning = clock_step(wall_now, tonumber(f[10]), clock, true)
  local lease, units = tonumber(f[12]) + step, tonumber(f[13])
  clock = clock + step
  if rate then
    units = math.min((tonumber(f[14]) or math.max(1, math.floor(rate / 6))) * UNITS, units + rate * earning) - UNITS
  end
  called_until = tonumber(called_until)
  if clock < tonumber(f[11]) and called_until > lease and units >= 0 then
    local claim_within, expires = tonumber(f[15]), clock + tonumber(f[16])
    local took = math.max(0, math.min(claim_within, claim_within - (called_until - lease)))
    call('ZREM', CALLED, ARGV[4])
    call('ZADD', ACTIVE, text(expires + 5000), ARGV[4])
    call('SETBIT', USED, ARGV[4], '1')
    call('ZADD', CLAIMS, text(clock), ARGV[4])
    call('HSET', STATE, 'clock', text(clock), 'wall', text(wall_now), 'lease', text(lease), 'units', text(units),
      'latency', text(math.floor((tonumber(f[18]) * 7 + took) / 8)), 'admitted', text(tonumber(f[19]) + 1))
    return { { 'inside', ARGV[4], text(expires), text(clock + tonumber(f[17])) },
      { f[1], text(clock), f[3], f[4], f[5], f[6], f[7], f[8], f[9] } }
  end
end
--@include state
--@include pump
--@include visit
--@include snapshot_reply

local s = load_state()
tick(s)
local position, verdict = tonumber(ARGV[4]), nil
if position > s.length then
  start_recovery(s)
  call('ZADD', REENTRY, 'NX', ARGV[4], ARGV[5])
  verdict = { 'recovering', text(s.reentry_until - s.clock) }
else
  pump(s)
  verdict = visit(s, position, ARGV[6] == '1')
end
save_state(s)
return { verdict, short_snapshot(s) }
