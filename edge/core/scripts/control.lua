-- control: pause, resume, reset. A repeated request id gets the first answer again.
-- ARGV  3 action   4 request id
-- Answers: {'ok', status, epoch}   {'missing'}
--@include head
--@include state
--@include pump
--@include snapshot_reply

local s = load_state()
if not s then return { { 'missing' }, {} } end
local before = call('HGET', REQUESTS, ARGV[4])
if before then return { { 'ok', s.status, s.epoch }, short_snapshot(s) } end
tick(s)
pump(s)
if ARGV[3] == 'pause' then
  s.status = 'paused'
elseif ARGV[3] == 'resume' then
  if s.status == 'recovering' then
    -- The operator releases it: whoever has come back by now is in line.
    if s.reentry_until > 0 then close_reentry(s) end
    s.recover_until, s.status = 0, 'open'
  elseif s.status == 'paused' then
    local unsafe = s.reentry_until > 0 or s.recover_until > s.clock
    s.status = unsafe and 'recovering' or 'open'
  end
  pump(s, true)
elseif ARGV[3] == 'reset' then
  start_epoch(s, s.status == 'paused' and 'paused' or 'open', s.epoch)
end
remember(s, ARGV[4], ARGV[3])
save_state(s)
return { { 'ok', s.status, s.epoch }, short_snapshot(s) }
