-- end: a visit or a place ends before its time. A slot is freed exactly once: ZREM says who did it.
-- ARGV  3 epoch   4 place, 0 for a pass that was taken over   5 visitor
--       6 reason: left, completed, revoked, undelivered; away: the page was closed, the place stays
--       7 units sold (completed only)   8 '1' if the site only reports what has happened: more than is free is an overrun
-- Answers: {'freed'}: was inside   {'left'}: was waiting   {'already'}: had ended before   {'away'}
--          {'late'}: sold after the pass had run out; counted now   {'conflict', free units}: more sold than is free for this
--          visit; nothing is changed   {'overrun', units}: the same, reported by the site: what was free is sold, the rest counted
--          apart
--          {'epoch'}: of another generation   {'missing'}
--@include engine
--@include visit
--@include place
--@include snapshot_reply

-- The snapshot has ten digits: two for the line, eight for the position; a higher position is caught at its renewal.
local WIDEST_ENDED = 99999999
-- A page that is closed at its turn may be a reload: the turn is kept this long for it.
local RELOAD_MS = 15000
local s = load_state()
if not s then return { { 'missing' }, {} } end
tick(s)
pump(s)
local line, position = read_token(s, ARGV[4])
local visitor, reason, units, is_of_epoch = ARGV[5], ARGV[6], tonumber(ARGV[7]), ARGV[3] == s.epoch

local function mark_over(member) return mark(member, PLACE_OVER) < PLACE_OVER end

local function units_free()
  return s.inventory and math.max(0, s.inventory - s.sold - s.active - s.called) or math.huge
end

local function count_end(member, what)
  s[what] = s[what] + 1
  if what == 'completed' then s.sold = s.sold + units end
  emit(s, what, member)
end

-- More was sold than there is. An answer from the site's own mouth cannot be refused any more: what was free is sold, and what
-- went beyond it is counted apart.
local function too_many(member, free)
  if ARGV[8] ~= '1' then return { 'conflict', text(free) } end
  s.sold, s.overrun = s.sold + free, s.overrun + units - free
  emit(s, 'overrun', member)
  return { 'overrun', text(units - free) }
end

-- The pass of a lost epoch, or one that was taken over, must not come back by its old cookie.
local function bury(member, deadline) return call('ZADD', ENDED, 'NX', text(TAKEN_OVER_SCORE + deadline), member) == 1 end

local function free_slot(member, deadline)
  s.active = s.active - call('ZREM', ACTIVE, member)
  if s.checkout or s.visit_max then call('HDEL', VISITS, 'h' .. member, 'c' .. member) end
  if position == 0 then return bury(member, deadline) end
  line.held = line.held - 1
  if reason == 'completed' then mark_over(member) end
  if position <= WIDEST_ENDED then
    call('ZADD', ENDED, text(deadline - FREE_AFTER_MS), string.format('%02d%08d', line.index, position))
  end
end

local function end_inside(member, deadline)
  if reason == 'away' then return { 'away' } end
  -- One unit was kept free for the one inside.
  if reason == 'completed' and units > units_free() + 1 then
    local verdict = too_many(member, units_free() + 1)
    if verdict[1] == 'conflict' then return verdict end
    free_slot(member, deadline)
    s.completed = s.completed + 1
    return verdict
  end
  free_slot(member, deadline)
  count_end(member, reason)
  return { 'freed' }
end

-- The pass had run out, but the purchase is real; `mark_sold` says whether it was reported before.
local function end_late(member, mark_sold)
  local is_too_many = units > units_free()
  if is_too_many and ARGV[8] ~= '1' then return too_many(member, units_free()) end
  if not mark_sold() then return { 'already' } end
  if is_too_many then return too_many(member, units_free()) end
  count_end(member, 'completed')
  return { 'late' }
end

local function go_away(member)
  call('ZREM', READY, member)
  call('ZREM', SEEN, member)
  leave_for_now(s, member)
  local deadline = call('ZSCORE', CALLED, member)
  if deadline and tonumber(deadline) > s.lease + RELOAD_MS then call('ZADD', CALLED, 'XX', text(s.lease + RELOAD_MS), member) end
  return { 'away' }
end

local function end_place(member)
  if reason == 'away' then return go_away(member) end
  if is_before_opening(s) then
    if call('HGET', PLACES, visitor) ~= member then return { 'already' } end
    call('HSET', PLACES, visitor, GIVEN_UP)
    if held_member(visitor) then hold(visitor, GIVEN_UP) end
  elseif reason == 'completed' or is_over(member) or not mark_over(member) then
    return { 'already' }
  end
  if reason == 'left' then note_given_up(s, member) end
  call('ZREM', READY, member)
  call('ZREM', SEEN, member)
  call('ZREM', SAMPLE, member)
  line.held = line.held - call('ZREM', CALLED, member)
  if s.over_rate > 0 then s.over_rate = s.over_rate - call('HDEL', VISITS, 'o' .. member) end
  if position > line.cursor then call('ZADD', GONE, text(line.base + position), member) end
  count_end(member, reason)
  return { 'left' }
end

local function end_one()
  local member = position > 0 and member_of(line, position) or 'v' .. visitor
  local deadline = tonumber(call('ZSCORE', ACTIVE, member) or nil)
  if deadline then return end_inside(member, deadline) end
  if position == 0 then
    if reason == 'away' then return { 'away' } end
    local function bury_it() return bury(member, s.clock + s.idle + FREE_AFTER_MS) end
    if reason == 'completed' and not call('ZSCORE', ENDED, member) then return end_late(member, bury_it) end
    return { bury_it() and not is_of_epoch and 'epoch' or 'already' }
  end
  if not was_used(member) then return end_place(member) end
  if reason ~= 'completed' or missed_turns(member) >= PLACE_OVER then return { 'already' } end
  return end_late(member, function() return mark_over(member) end)
end

local verdict = { 'epoch' }
if (is_of_epoch and position <= line.length) or is_lost_epoch(s, ARGV[3]) then
  if not is_of_epoch then position = 0 end
  verdict = end_one()
  count_people(s)
  set_status(s)
  call_next(s)
  pass_the_gone(s)
end
save_state(s)
return { verdict, short_snapshot(s, line) }
