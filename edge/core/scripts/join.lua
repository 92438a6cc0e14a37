-- join: a visitor without a place in this epoch gets one; a known visitor gets the same one again.
-- ARGV  3 visitor   4 '1' if no cookie of ours came back (then a place is given only when nobody has to queue)
--       5 '1' if the visitor wants in now   6, 7 epoch and position of an older place, or empty
-- Answers as visit.lua, or: {'candidate'}  {'recovering', retry ms}  {'missing'}
--@include head

-- Most joins of a large sale end here: far behind the window, between two sweeps.
local f = call('HMGET', STATE, 'epoch', 'clock', 'status', 'length', 'cursor', 'horizon', 'config_version', 'rate', 'max_active',
  'wall', 'pump_at')
if not f[1] then return { { 'missing' }, {} } end
if f[3] == 'open' and ARGV[4] ~= '1' and ARGV[6] == '' and tonumber(f[4]) > tonumber(f[6]) then
  local clock = tonumber(f[2])
  clock = clock + clock_step(server_ms(), tonumber(f[10]), clock, true)
  if clock < tonumber(f[11]) and not call('HGET', PLACES, ARGV[3]) and not call('HGET', PLACES_OLD, ARGV[3]) then
    local position = call('HINCRBY', STATE, 'length', '1')
    call('HSET', PLACES, ARGV[3], position)
    f[2], f[4], f[10], f[11] = text(clock), text(position), nil, nil
    return { { 'waiting', text(position) }, f }
  end
end
--@include state
--@include pump
--@include visit
--@include snapshot_reply

local s = load_state()
tick(s)
pump(s)
local verdict
local position = known_place(ARGV[3])
local old_place = ARGV[6] ~= '' and ARGV[6] ~= s.epoch and not is_killed(s, ARGV[6])

if ARGV[6] == s.epoch and tonumber(ARGV[7]) > s.length then
  start_recovery(s)
  old_place = true
end
if position == 0 and old_place then
  if s.reentry_until > 0 then
    call('ZADD', REENTRY, 'NX', ARGV[7], ARGV[3])
    verdict = { 'recovering', text(s.reentry_until - s.clock) }
  else
    local rank = call('ZRANK', REENTRY, ARGV[3])
    if rank then position = rank + 1 end
  end
end
if not verdict and position == 0 then
  if ARGV[4] == '1' and queueing(s) > 0 then
    s.hold_until = s.clock + s.hold
    verdict = { 'candidate' }
  elseif s.reentry_until > 0 then
    verdict = { 'recovering', text(s.reentry_until - s.clock) }
  else
    if waiting(s) == 0 then
      s.horizon, s.settled = math.max(s.horizon, s.length), math.max(s.settled, s.length)
    end
    position = place(s, ARGV[3])
  end
end
verdict = verdict or visit(s, position, ARGV[5] == '1')
save_state(s)
return { verdict, short_snapshot(s) }
