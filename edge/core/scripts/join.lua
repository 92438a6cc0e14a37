-- join: a visitor without a place in this epoch gets one; a known visitor gets the same one again.
-- ARGV  3 visitor   4 '1' if no cookie of ours came back (then a place is given only when nobody has to queue)
--       5 '1' if the visitor wants in now   6, 7 epoch and position of an older place, or empty
-- Answers as visit.lua, or: {'candidate'}  {'recovering', retry ms}  {'missing'}
--@include head

-- Most joins of a large sale end here: far behind the window, between two sweeps. Nothing but the place is written.
local f = call('HMGET', STATE, 'epoch', 'clock', 'status', 'length', 'cursor', 'horizon', 'config_version', 'rate', 'max_active',
  'short_until', 'rotated')
if not f[1] then return { { 'missing' }, {} } end
if ARGV[4] == '' and ARGV[6] == '' and f[10] ~= '0' and f[4] + 0 > f[6] + 0
    and server_ms() < f[10] + 0 and (f[11] == '0' or not call('HGET', PLACES_OLD, ARGV[3])) then
  local position = text(f[4] + 1)
  if call('HSETNX', PLACES, ARGV[3], position) == 1 then
    call('HSET', STATE, 'length', position)
    f[4], f[10], f[11] = position, nil, nil
    return { { 'waiting', position }, f }
  end
end
--@include state
--@include pump
--@include visit
--@include snapshot_reply

local s = load_state()
tick(s)
pump(s)
local visitor, old_epoch, old_position = ARGV[3], ARGV[6], tonumber(ARGV[7])
if old_epoch ~= '' then
  local is_set_back = is_from_ahead(s, old_epoch) or (old_epoch == s.epoch and was_set_back(s, old_position, visitor))
  if is_set_back then start_recovery(s) end
end
local position, verdict = known_place(s, visitor), nil
if position == 0 and old_epoch == s.epoch then position = old_position end
if position == 0 and old_epoch ~= '' and is_lost_epoch(s, old_epoch) then
  if s.reentry_until > 0 then
    come_back(visitor, ARGV[7])
  else
    position = (call('ZRANK', REENTRY, visitor) or -1) + 1
  end
end
if position == 0 then
  local crowd = queueing(s)
  if ARGV[4] == '1' and crowd > 0 then
    -- Who is sent for a cookie only because others were does not make the next ones wait longer, or it would never end.
    if crowd == 2 then s.hold_until = s.clock + s.hold end
    verdict = { 'candidate' }
  elseif s.reentry_until > 0 then
    verdict = { 'recovering', text(math.max(0, s.reentry_until - s.clock)) }
  else
    pass_the_gone(s)
    position = place(s, visitor)
  end
end
verdict = verdict or visit(s, position, ARGV[5] == '1')
save_state(s)
return { verdict, short_snapshot(s) }
