-- control: an operator's step. A repeated request id gets the first answer again, and nothing is done.
-- ARGV  3 action: open (also: resume), pause, drain, close, maintenance, reset, message, beacon; of one queue of a group: pause_lines,
--       open_lines   4 request id   5 text of a message, value of a beacon, or each line with its weight: '1:2000,2:1000'
-- Answers: {'ok', status, epoch}   {'refused', status}: the step means nothing now   {'missing'}
--          {'busy'}: too many steps within the hour   {'reused'}: the id came with something else before (requests.lua)
--@include engine
--@include requests
--@include snapshot_reply

local MODES = { pause = 'paused', drain = 'draining', close = 'closed', maintenance = 'maintenance' }

-- Ends whatever an operator said before; what only waits for its time is opened now, what recovers is released.
local function open(s)
  local was = s.status
  s.mode = 'open'
  if was == 'recovering' then
    -- Whoever has come back by now is in line.
    if s.reentry_until > 0 then close_reentry(s) end
    s.recover_until = 0
  elseif (was == 'not_open' or was == 'prequeue') and s.opens_at > s.clock then
    s.opens_at = s.clock
  end
  set_status(s)
end

-- A queue of a group by itself. Whoever has a turn keeps it, and presence goes on: only nobody is called.
local function set_lines(s, is_pause)
  for index, weight in string.gmatch(ARGV[5], '(%d+):(%d+)') do
    local line = s.lines[tonumber(index) + 1]
    if line then line.weight = is_pause and 0 or tonumber(weight) end
  end
end

local s = load_state()
if not s then return { { 'missing' }, {} } end
local request_id = ARGV[3] .. ' ' .. ARGV[4]
local before, is_reused = recall(request_id)
if is_reused then return { { 'reused' }, short_snapshot(s) } end
if before then
  local status, epoch = string.match(before, '^(%S+) (%S+)$')
  return { { 'ok', status, epoch }, short_snapshot(s) }
end
tick(s)
if is_crowded(s) then
  save_state(s)
  return { { 'busy' }, short_snapshot(s) }
end
local action, is_refused = ARGV[3], false
if MODES[action] then s.mode = MODES[action]
elseif action == 'open' or action == 'resume' then open(s)
elseif s.is_group == 1 and (action == 'pause_lines' or action == 'open_lines') then set_lines(s, action == 'pause_lines')
elseif action == 'reset' then start_epoch(s, BEGUN_BY_RESET, s.epoch)
elseif action == 'message' then call('HSET', STATE, 'message', ARGV[5])
-- A public random value counts only when nobody can join the draw any more, and only the first one told.
elseif action == 'beacon' and is_before_opening(s) and s.clock >= s.opens_at and s.beacon == '' then s.beacon = ARGV[5]
else is_refused = true end
set_status(s)
if is_refused then
  save_state(s)
  return { { 'refused', s.status }, short_snapshot(s) }
end
emit(s, action, '0')
pump(s, true)
remember(s, request_id, s.status .. ' ' .. s.epoch)
save_state(s)
return { { 'ok', s.status, s.epoch }, short_snapshot(s) }
