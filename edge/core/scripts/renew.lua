-- renew: a pass in use gets a new expiry. A pass of a lost epoch, or one that a set-back state does not know, is taken over.
-- ARGV  3 epoch   4 position, 0 for a pass that was taken over   5 visitor   6 expiry of the pass, Unix ms
-- Answers: {'inside', position, expires at, renew at}   {'ended', position}   {'missing'}
--@include head
--@include state
--@include pump
--@include visit
--@include snapshot_reply

local s = load_state()
if not s then return { { 'missing' }, {} } end
tick(s)
pump(s)
local position = tonumber(ARGV[4])
local member = position > 0 and ARGV[4] or 'v' .. ARGV[5]
local verdict

if ARGV[3] == s.epoch and position > s.length then start_recovery(s) end
if tonumber(ARGV[6]) <= s.clock then
  verdict = { 'ended', ARGV[4] }
elseif ARGV[3] ~= s.epoch then
  if is_killed(s, ARGV[3]) then
    verdict = { 'ended', ARGV[4] }
  else
    verdict = admit(s, 0, 'v' .. ARGV[5])
  end
else
  local deadline = call('ZSCORE', ACTIVE, member)
  if deadline and tonumber(deadline) - 5000 > s.clock then
    verdict = admit(s, position, member)
    s.active = s.active - 1
  elseif position > 0 and call('GETBIT', USED, ARGV[4]) == 0 and call('GETBIT', LEFT, ARGV[4]) == 0 then
    -- The claim was lost with the last moments of the state; the signature proves that it happened.
    call('ZREM', READY, member)
    call('ZREM', CALLED, member)
    s.admitted = s.admitted + 1
    verdict = admit(s, position, member)
  else
    verdict = { 'ended', ARGV[4] }
  end
end
save_state(s)
return { verdict, short_snapshot(s) }
