-- join: a visitor without a place in this epoch gets one; a known visitor gets the same one again.
-- ARGV  3 visitor   4 '1' if no cookie of ours came back (then a place is given only when nobody has to queue)
--       5 '1' if the visitor wants in now   6, 7 epoch and place of an older token, or empty
--       8 line   9 invitation that leads to this line, or empty   10 line without it
--       11 '1' if a key that has been inside gets no other place
-- A visitor 'key.0' stands for a key that the site vouched for (holder.lua): who that is now, the third part of the answer says.
-- Answers as visit.lua, or: {'candidate'}  {'recovering', retry ms}  {'refused', status}: no new places now, or 'had_visit'
--          {'missing'}
--@include head

-- Most joins of a large sale end here: far behind the window, between two sweeps. Nothing but the place is written.
local at = ARGV[8] == '0' and '' or ARGV[8]
local key = string.match(ARGV[3], '^(.+)%.0$')
local f = call('HMGET', STATE, 'epoch', 'clock', 'status', 'length' .. at, 'cursor' .. at, 'horizon' .. at, 'config_version', 'rate',
  'max_active', 'short_until', 'rotated' .. at, 'sample_every', 'has_events')
if not f[1] then return { { 'missing' }, {} } end
if ARGV[4] == '' and ARGV[6] == '' and ARGV[9] == '' and (key or not string.find(ARGV[3], '.', 1, true)) and f[10] ~= '0' and f[6] and f[4] + 0 > f[6] + 0
    and server_ms() < f[10] + 0 and (f[11] == '0' or not call('HGET', PLACES_OLD, ARGV[3])) then
  local position = text(f[4] + 1)
  local member = at == '' and position or at .. ':' .. position
  if (f[12] == '0' or position % f[12] > 0) and not (key and call('HGET', HOLDERS, key))
      and call('HSETNX', PLACES, ARGV[3], member) == 1 then
    if key then call('HSET', HOLDERS, key, '0 ' .. member) end
    call('HSET', STATE, 'length' .. at, position)
    if f[13] == '1' then add_events(f[2], 'joined ' .. member) end
    return { { 'waiting', member }, { f[1], f[2], f[3], position, f[5], f[6], f[7], f[8], f[9] }, key and ARGV[3] or nil }
  end
end
--@include rest
--@include visit
--@include place
--@include snapshot_reply

local s = load_state()
tick(s)
pump(s)
local visitor, old_epoch, old_token = holder_of(ARGV[3]), ARGV[6], ARGV[7]
local count
key, count = read_visitor(visitor)
-- A place of this epoch that the map does not know, or one of a lost epoch, comes back; `line` and `position` if it has one.
local function find_old()
  local old_line, old_place = read_token(s, old_token)
  local is_set_back = is_from_ahead(s, old_epoch)
    or (old_epoch == s.epoch and was_set_back(s, old_line, old_place, ARGV[3]))
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

-- A key whose pass of a lost epoch was taken over: it has no place, but may be inside.
local function taken_over()
  local deadline = held_member(visitor) == TAKEN_OVER and call('ZSCORE', ACTIVE, 'v' .. visitor)
  return deadline and inside_again(s, '0', deadline)
end

-- The last place of the key is over: it gets another at the end, unless it had its visit and that was to be the only one.
local function begin_again(line, position)
  local last = position > 0 and member_of(line, position) or 'v' .. visitor
  -- A pass that has run out counts for a few seconds more.
  if call('ZSCORE', ACTIVE, last) then return { 'candidate' } end
  local had_visit = position > 0 and was_used(last) or held_member(visitor) == TAKEN_OVER
  if had_visit and ARGV[11] == '1' then return { 'refused', 'had_visit' }, line end
  visitor = key .. '.' .. text(count + 1)
  return arrive()
end

local line, position, given_up = nil, 0, nil
local verdict = key and taken_over()
if verdict then position = 0
elseif old_epoch ~= '' then line, position, given_up = find_old() else line, position, given_up = known_place(s, visitor) end
if verdict then line = s.lines[1]
elseif given_up then verdict = { 'ended', '0' }
elseif position > 0 then verdict = visit(s, line, position, ARGV[5] == '1')
elseif line and s.reentry_until > 0 then verdict = { 'recovering', text(math.max(0, s.reentry_until - s.clock)) }
elseif key and held_member(visitor) then verdict = { 'ended', '0' }
else verdict, line = arrive() end
if key and old_epoch == '' and (verdict[1] == 'ended' or verdict[1] == 'lapsed') then verdict, line = begin_again(line, position) end
save_state(s)
return { verdict, short_snapshot(s, line), key and visitor or nil }
