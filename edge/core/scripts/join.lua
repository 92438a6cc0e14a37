-- join: a visitor without a place in this epoch gets one; a known visitor gets the same one again.
-- ARGV  3 visitor   4 '1' if no cookie of ours came back (then a place is given only when nobody has to queue)
--       5 '1' if the visitor wants in now   6, 7 epoch and place of an older token, or empty
--       8 line   9 invitation that leads to this line, or empty   10 line without it
-- Answers as visit.lua, or: {'candidate'}  {'recovering', retry ms}  {'refused', status}: no new places now  {'missing'}
--@include head

-- Most joins of a large sale end here: far behind the window, between two sweeps. Nothing but the place is written.
local at = ARGV[8] == '0' and '' or ARGV[8]
local f = call('HMGET', STATE, 'epoch', 'clock', 'status', 'length' .. at, 'cursor' .. at, 'horizon' .. at, 'config_version', 'rate',
  'max_active', 'short_until', 'rotated' .. at, 'sample_every', 'has_events')
if not f[1] then return { { 'missing' }, {} } end
if ARGV[4] == '' and ARGV[6] == '' and ARGV[9] == '' and f[10] ~= '0' and f[6] and f[4] + 0 > f[6] + 0
    and server_ms() < f[10] + 0 and (f[11] == '0' or not call('HGET', PLACES_OLD, ARGV[3])) then
  local position = text(f[4] + 1)
  local member = at == '' and position or at .. ':' .. position
  if (f[12] == '0' or position % f[12] > 0) and call('HSETNX', PLACES, ARGV[3], member) == 1 then
    call('HSET', STATE, 'length' .. at, position)
    if f[13] == '1' then add_events(f[2], 'joined ' .. member) end
    return { { 'waiting', member }, { f[1], f[2], f[3], position, f[5], f[6], f[7], f[8], f[9] } }
  end
end
--@include rest
--@include visit
--@include place
--@include snapshot_reply

local s = load_state()
tick(s)
pump(s)
local visitor, old_epoch, old_token = ARGV[3], ARGV[6], ARGV[7]
-- A place of this epoch that the map does not know, or one of a lost epoch, comes back; `line` and `position` if it has one.
local function find_old()
  local old_line, old_place = read_token(s, old_token)
  local is_set_back = is_from_ahead(s, old_epoch)
    or (old_epoch == s.epoch and was_set_back(s, old_line, old_place, visitor))
  if is_set_back then start_recovery(s) end
  local line, position, given_up = known_place(s, visitor)
  if position > 0 or given_up then return line, position, given_up end
  if old_epoch == s.epoch then return old_line, old_place end
  if not is_lost_epoch(s, old_epoch) then return nil, 0 end
  if s.reentry_until == 0 then return reentered(s, visitor) end
  come_back(old_line, visitor, old_place)
  return old_line, 0
end

-- An invitation is good for one visitor; for another it is as if there were none.
local function line_of_newcomer()
  local wanted_line = s.lines[tonumber(ARGV[8]) + 1] or s.lines[1]
  if ARGV[9] == '' then return wanted_line end
  if call('HSETNX', INVITES, ARGV[9], visitor) == 1 or call('HGET', INVITES, ARGV[9]) == visitor then return wanted_line end
  return s.lines[tonumber(ARGV[10]) + 1] or s.lines[1]
end

local function arrive()
  local crowd = queueing(s)
  if not gives_places(s) then return { 'refused', s.status } end
  if ARGV[4] == '1' and crowd > 0 then
    -- Who is sent for a cookie only because others were does not make the next ones wait longer, or it would never end.
    if crowd == 2 then s.hold_until = s.clock + s.hold end
    return { 'candidate' }
  end
  if s.reentry_until > 0 then return { 'recovering', text(math.max(0, s.reentry_until - s.clock)) } end
  pass_the_gone(s)
  local line = line_of_newcomer()
  local position = new_place(s, line, visitor)
  return visit(s, line, position, ARGV[5] == '1'), line
end

local line, position, given_up
if old_epoch ~= '' then line, position, given_up = find_old() else line, position, given_up = known_place(s, visitor) end
local verdict
if given_up then verdict = { 'ended', '0' }
elseif position > 0 then verdict = visit(s, line, position, ARGV[5] == '1')
elseif line and s.reentry_until > 0 then verdict = { 'recovering', text(math.max(0, s.reentry_until - s.clock)) }
else verdict, line = arrive() end
save_state(s)
return { verdict, short_snapshot(s, line) }
