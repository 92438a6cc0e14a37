-- end: a visit or a place ends before its time. A slot is freed exactly once: ZREM says who did it.
-- ARGV  3 epoch   4 position, 0 for a pass that was taken over   5 visitor   6 reason: left, completed, revoked, undelivered
--       7 units sold (completed only)
-- Answers: {'freed'}: was inside   {'left'}: was waiting   {'already'}: had ended before
--          {'late'}: sold after the pass had run out; counted now   {'conflict', free units}: more sold than is free for this
--          visit; nothing is changed   {'epoch'}: of another generation   {'missing'}
--@include head
--@include state
--@include pump
--@include snapshot_reply

local WIDEST_ENDED = 99999999 -- the snapshot has eight digits; a higher position is caught at its renewal

local function mark_over(member) return call('BITFIELD', LEFT, 'SET', 'u2', '#' .. member, text(PLACE_OVER))[1] ~= PLACE_OVER end

local function units_free(s)
  return s.inventory and math.max(0, s.inventory - s.sold - s.active - s.called) or math.huge
end

local function count_end(s, reason, units)
  s[reason] = s[reason] + 1
  if reason == 'completed' then s.sold = s.sold + units end
end

-- The pass of a lost epoch, or one that was taken over, must not come back by its old cookie.
local function bury(member, deadline) return call('ZADD', ENDED, 'NX', text(TAKEN_OVER_SCORE + deadline), member) == 1 end

local function end_inside(s, position, member, deadline, reason, units)
  -- One unit was kept free for the one inside.
  if reason == 'completed' and units > units_free(s) + 1 then return { 'conflict', text(units_free(s) + 1) } end
  s.active = s.active - call('ZREM', ACTIVE, member)
  count_end(s, reason, units)
  if position == 0 then
    bury(member, deadline)
  else
    if reason == 'completed' then mark_over(member) end
    if position <= WIDEST_ENDED then call('ZADD', ENDED, text(deadline - FREE_AFTER_MS), string.format('%08d', position)) end
  end
  return { 'freed' }
end

-- The pass had run out, but the purchase is real; `mark` says whether it was reported before.
local function end_late(s, units, mark)
  if units > units_free(s) then return { 'conflict', text(units_free(s)) } end
  if not mark() then return { 'already' } end
  count_end(s, 'completed', units)
  return { 'late' }
end

local function end_place(s, position, member, reason)
  if reason == 'completed' or not mark_over(member) then return { 'already' } end
  call('ZREM', READY, member)
  call('ZREM', SEEN, member)
  call('ZREM', CALLED, member)
  if position > s.cursor then call('ZADD', GONE, member, member) end
  count_end(s, reason, 0)
  return { 'left' }
end

local function end_one(s, position, visitor, reason, units, is_of_epoch)
  local member = position > 0 and text(position) or 'v' .. visitor
  local deadline = tonumber(call('ZSCORE', ACTIVE, member) or nil)
  if deadline then return end_inside(s, position, member, deadline, reason, units) end
  if position == 0 then
    local function mark() return bury(member, s.clock + s.idle + FREE_AFTER_MS) end
    if reason == 'completed' and not call('ZSCORE', ENDED, member) then return end_late(s, units, mark) end
    return { mark() and not is_of_epoch and 'epoch' or 'already' }
  end
  if call('GETBIT', USED, member) == 0 then return end_place(s, position, member, reason) end
  if reason ~= 'completed' or is_over(member) then return { 'already' } end
  return end_late(s, units, function() return mark_over(member) end)
end

local s = load_state()
if not s then return { { 'missing' }, {} } end
tick(s)
pump(s)
local position, is_of_epoch = tonumber(ARGV[4]), ARGV[3] == s.epoch
local verdict = { 'epoch' }
if (is_of_epoch and position <= s.length) or is_lost_epoch(s, ARGV[3]) then
  verdict = end_one(s, is_of_epoch and position or 0, ARGV[5], ARGV[6], tonumber(ARGV[7]), is_of_epoch)
  count_people(s)
  call_next(s)
  pass_the_gone(s)
end
save_state(s)
return { verdict, short_snapshot(s) }
