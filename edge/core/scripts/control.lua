-- control: pause, resume, reset. A repeated request id gets the first answer again, and nothing is done.
-- ARGV  3 action   4 request id
-- Answers: {'ok', status, epoch}   {'missing'}   {'busy'}: too many steps within the hour
--@include head
--@include state
--@include pump
--@include requests
--@include snapshot_reply

local s = load_state()
if not s then return { { 'missing' }, {} } end
local request_id = ARGV[3] .. ' ' .. ARGV[4]
local before = recall(request_id)
if before then
  local status, epoch = string.match(before, '^(%S+) (%S+)$')
  return { { 'ok', status, epoch }, short_snapshot(s) }
end
tick(s)
if is_crowded(s) then
  save_state(s)
  return { { 'busy' }, short_snapshot(s) }
end
if ARGV[3] == 'pause' then
  s.status = 'paused'
elseif ARGV[3] == 'resume' then
  if s.status == 'recovering' then
    -- The operator releases it: whoever has come back by now is in line.
    if s.reentry_until > 0 then close_reentry(s) end
    s.recover_until, s.status = 0, 'open'
  elseif s.status == 'paused' then
    s.status = s.recover_until > 0 and 'recovering' or 'open'
  end
elseif ARGV[3] == 'reset' then
  start_epoch(s, s.status == 'paused' and 'paused' or 'open', BEGUN_BY_RESET, s.epoch)
end
pump(s, true)
remember(s, request_id, s.status .. ' ' .. s.epoch)
save_state(s)
return { { 'ok', s.status, s.epoch }, short_snapshot(s) }
