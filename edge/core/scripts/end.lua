-- end: a visit or a place ends before its time. A slot is freed exactly once: ZREM says who did it.
-- ARGV  3 epoch   4 position, 0 for a pass that was taken over   5 visitor   6 reason: left, completed, revoked, undelivered
--       7 units sold (completed only)
-- Answers: {'freed'}: was inside   {'left'}: was waiting   {'already'}: had ended before   {'epoch'}   {'missing'}
--@include head
--@include state
--@include pump
--@include snapshot_reply

local s = load_state()
if not s then return { { 'missing' }, {} } end
tick(s)
pump(s)
local position, reason = tonumber(ARGV[4]), ARGV[6]
local member = position > 0 and ARGV[4] or 'v' .. ARGV[5]
local verdict = { 'already' }

if ARGV[3] ~= s.epoch then
  verdict = { 'epoch' }
else
  local deadline = call('ZSCORE', ACTIVE, member)
  if deadline and call('ZREM', ACTIVE, member) == 1 then
    s.active = s.active - 1
    s[reason] = s[reason] + 1
    if reason == 'completed' then s.sold = s.sold + tonumber(ARGV[7]) end
    if position > 0 then
      call('ZADD', ENDED, text(tonumber(deadline) - 5000), string.format('%08d', position))
    end
    verdict = { 'freed' }
  elseif position > 0 and reason ~= 'completed' and call('GETBIT', USED, member) == 0
      and call('SETBIT', LEFT, member, '1') == 0 then
    call('ZREM', READY, member)
    call('ZREM', SEEN, member)
    call('ZREM', CALLED, member)
    if position > s.cursor then call('ZADD', GONE, member, member) end
    s[reason] = s[reason] + 1
    verdict = { 'left' }
  end
  count_people(s)
  call_next(s)
end
save_state(s)
return { verdict, short_snapshot(s) }
