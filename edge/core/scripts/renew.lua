-- renew: a pass in use gets a new expiry. A pass of a lost epoch, or one that a set-back state does not know, is taken over.
-- ARGV  3 epoch   4 place, 0 for a pass that was taken over   5 visitor   6 expiry of the pass, Unix ms
-- Answers: {'inside', member, expires at, renew at}   {'ended', member}   {'missing'}
--@include head

-- Most renewals end here: between two sweeps, a pass that is known and good gets its new expiry, and nothing else is written.
local at = string.match(ARGV[4], '^(%d+):') or ''
local f = call('HMGET', STATE, 'epoch', 'clock', 'status', 'length' .. at, 'cursor' .. at, 'horizon' .. at, 'config_version', 'rate', 'max_active',
  'short_until', 'idle', 'renew_every', 'visit_max', 'checkout')
if not f[1] then return { { 'missing' }, {} } end
if f[1] == ARGV[3] and f[10] ~= '0' and f[13] == '' and f[14] == '' and call('HGET', PLACES, ARGV[5]) == ARGV[4] then
  local now = server_ms()
  local deadline = now >= f[2] + 0 and now < f[10] + 0 and ARGV[6] + 0 > now and call('ZSCORE', ACTIVE, ARGV[4])
  if deadline and deadline - FREE_AFTER_MS > now then
    local expires = now + f[11]
    call('ZADD', ACTIVE, 'XX', expires + FREE_AFTER_MS, ARGV[4])
    return { { 'inside', ARGV[4], text(expires), text(now + f[12]) }, { unpack(f, 1, 9) } }
  end
end
--@include rest
--@include visit
--@include place
--@include snapshot_reply

local s = load_state()
tick(s)
pump(s)
local line, position = find_line(s, ARGV[4])
local visitor, expires, is_of_epoch = ARGV[5], tonumber(ARGV[6]), ARGV[3] == s.epoch

-- Whether a pass that the state does not have inside may be taken over: its signature proves the admission, so either that was
-- lost with the last moments of the state, or the visit has ended.
local function may_take_over(member)
  -- Of the passes that a key had, one is taken over.
  if position == 0 then return holder_of(visitor) == visitor and not call('ZSCORE', ENDED, member) end
  return not was_used(member) and not is_over(member)
end

local function use_place(line, member, held)
  call('ZREM', READY, member)
  call('ZREM', SEEN, member)
  line.held = line.held + held - call('ZREM', CALLED, member)
  call('SETBIT', USED, seat(member), '1')
  count_people(s)
end

-- Another device with the same key may have come back with the place that this pass was given for: that is used up now.
local function take_over_key()
  call('ZREM', REENTRY, visitor)
  local its_line, its_position = known_place(s, visitor)
  if its_position > 0 then use_place(its_line, member_of(its_line, its_position), 0) end
  hold(visitor, TAKEN_OVER)
end

local function take_over(member)
  if position > 0 then use_place(line, member, 1) elseif read_visitor(visitor) then take_over_key() end
  s.admitted = s.admitted + 1
  emit(s, 'taken_over', member)
  return let_in(s, member)
end

if is_from_ahead(s, ARGV[3]) or (is_of_epoch and position > 0 and was_set_back(s, line, position, visitor)) then
  start_recovery(s)
  is_of_epoch = false
end
if not is_of_epoch then position = 0 end
local member = position > 0 and ARGV[4] or 'v' .. visitor
local deadline = call('ZSCORE', ACTIVE, member)
local verdict = { 'ended', ARGV[4] }

if expires > s.clock and (is_of_epoch or is_lost_epoch(s, ARGV[3])) then
  -- A pass of the lost epoch that outlasts the recovery shows that others may.
  if not is_of_epoch and s.recover_until > 0 then s.recover_until = math.max(s.recover_until, expires + FREE_AFTER_MS) end
  if deadline then
    if tonumber(deadline) - FREE_AFTER_MS > s.clock then verdict = let_in(s, member) end
  elseif may_take_over(member) then
    verdict = take_over(member)
  end
  -- Who was taken over is known by the visitor: there is no position.
  if position == 0 then verdict[2] = '0' end
end
save_state(s)
return { verdict, short_snapshot(s, line) }
