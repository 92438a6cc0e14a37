-- admit: an operator calls the next `count` waiting: those present first come first; beyond the window without asking for
-- a sign of life. Never more than wait, never above max_active or inventory; the rate is taken at the claim. No credit is left.
-- ARGV  3 count   4 request id
-- Answers: {'ok', called}   {'paused'}  {'recovering'}  {'missing'}  {'busy'}: too many steps within the hour
--@include head
--@include state
--@include pump
--@include requests
--@include snapshot_reply

-- One call does at most this much; the caller asks again for the rest, with another request id.
local BATCH_AT_MOST = 500
local LOOK_AT_MOST = 1000

-- Who wait behind all who have been asked, in order, and how far was looked.
local function next_unasked(s, room)
  local from, chosen = math.max(s.cursor, s.settled), {}
  local position, last = from, math.min(s.length, from + LOOK_AT_MOST)
  while #chosen < room and position < last do
    position = position + 1
    local member = text(position)
    if not is_over(member) and call('GETBIT', USED, member) == 0 then chosen[#chosen + 1] = member end
  end
  return chosen, position > from and position or s.cursor
end

local s = load_state()
if not s then return { { 'missing' }, {} } end
local request_id = 'admit ' .. ARGV[4]
local before = recall(request_id)
if before then return { { 'ok', before }, short_snapshot(s) } end
tick(s)
pump(s)
local verdict
if s.status ~= 'open' then
  verdict = { s.status }
elseif is_crowded(s) then
  verdict = { 'busy' }
else
  local room = math.max(0, math.min(tonumber(ARGV[3]), BATCH_AT_MOST, slots_left(s)))
  local present = next_present(s, room)
  give_turns(s, present)
  local unasked, looked_up_to = next_unasked(s, room - #present)
  give_turns(s, unasked)
  -- Everybody up to the cursor has been asked, called or passed over.
  s.cursor = math.max(s.cursor, looked_up_to)
  s.horizon, s.settled = math.max(s.horizon, s.cursor), math.max(s.settled, s.cursor)
  call('ZREMRANGEBYSCORE', GONE, '-inf', text(s.cursor))
  verdict = { 'ok', text(#present + #unasked) }
  remember(s, request_id, verdict[2])
end
save_state(s)
return { verdict, short_snapshot(s) }
