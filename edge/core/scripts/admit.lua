-- admit: an operator calls the next `count` waiting: those present first come first; beyond the window without asking for
-- a sign of life. Never more than wait, never above max_active or inventory; the rate is taken at the claim. No credit is left.
-- ARGV  3 count   4 request id
-- Answers: {'ok', called}   {'paused'}  {'recovering'}  {'missing'}
--@include head
--@include state
--@include pump
--@include snapshot_reply

-- One call does at most this much; the caller asks again for the rest, with another request id.
local BATCH_AT_MOST = 500

local s = load_state()
if not s then return { { 'missing' }, {} } end
local before = call('HGET', REQUESTS, ARGV[4])
if before then return { { 'ok', string.match(before, '%d+$') }, short_snapshot(s) } end
tick(s)
pump(s)
if s.status ~= 'open' then
  save_state(s)
  return { { s.status }, short_snapshot(s) }
end

local room = math.min(tonumber(ARGV[3]), BATCH_AT_MOST, slots_left(s))
local called = 0
if room > 0 and s.ready > 0 then
  local present = call('ZRANGEBYSCORE', READY, '-inf', text(s.settled), 'LIMIT', '0', text(room))
  for _, member in ipairs(present) do
    call('ZREM', READY, member)
    call('ZREM', SEEN, member)
    s.ready = s.ready - 1
    give_turn(s, tonumber(member))
    called = called + 1
  end
end
local position, looked = math.max(s.cursor, s.settled), 0
while called < room and position < s.length and looked < 2 * BATCH_AT_MOST do
  position, looked = position + 1, looked + 1
  local member = text(position)
  if call('GETBIT', LEFT, member) == 0 and call('GETBIT', USED, member) == 0 and not call('ZSCORE', CALLED, member) then
    s.ready = s.ready - call('ZREM', READY, member)
    call('ZREM', SEEN, member)
    give_turn(s, position)
    called = called + 1
  end
end
-- Everybody up to the cursor has been asked or called.
s.horizon, s.settled = math.max(s.horizon, s.cursor), math.max(s.settled, s.cursor)
call('ZREMRANGEBYSCORE', GONE, '-inf', text(s.cursor))
remember(s, ARGV[4], text(called))
save_state(s)
return { { 'ok', text(called) }, short_snapshot(s) }
