-- admit: an operator calls the next `count` waiting: those present first come first; beyond the window without asking for
-- a sign of life. Never more than wait, never above max_active or inventory; the rate is taken at the claim, unless the batch
-- is over the rate. No credit is left.
-- ARGV  3 count   4 request id   5 '1' if those called now come in whatever the rate   6 line, or empty for all
-- Answers: {'ok', called}   {status}: nobody is called now   {'missing'}   {'busy'}: too many steps within the hour
--          {'reused'}: the id came with something else before (requests.lua)
--@include engine
--@include requests
--@include snapshot_reply

-- One call does at most this much; the caller asks again for the rest, with another request id.
local BATCH_AT_MOST = 500
local LOOK_AT_MOST = 1000
local over_rate = ARGV[5] == '1'

-- Who wait behind all who have been asked, in order, and how far was looked.
local function next_unasked(line, room)
  local from, chosen = math.max(line.cursor, line.settled), { members = {}, positions = {} }
  if is_paused(line) then return chosen, line.cursor end
  local position, last = from, math.min(line.length, from + LOOK_AT_MOST)
  while #chosen.members < room and position < last do
    position = position + 1
    local member = member_of(line, position)
    if not is_over(member) and not was_used(member) then
      chosen.members[#chosen.members + 1], chosen.positions[#chosen.positions + 1] = member, position
    end
  end
  return chosen, position > from and position or line.cursor
end

local function call_batch(s, line, room)
  local present = next_present(s, line, room)
  local count = math.min(room, #present.members)
  take(s, line, present, count)
  local unasked, looked_up_to = next_unasked(line, room - count)
  give_turns(s, line, unasked.members, unasked.positions)
  -- Everybody up to the cursor has been asked, called or passed over.
  line.cursor = math.max(line.cursor, looked_up_to)
  line.horizon, line.settled = math.max(line.horizon, line.cursor), math.max(line.settled, line.cursor)
  call('ZREMRANGEBYSCORE', GONE, text(line.base), text(line.base + line.cursor))
  if over_rate then
    local marks = {}
    for _, list in ipairs({ present.members, unasked.members }) do
      for i = 1, list == present.members and count or #list do
        marks[#marks + 1], marks[#marks + 2] = 'o' .. list[i], '1'
      end
    end
    if #marks > 0 then s.over_rate = s.over_rate + call('HSET', VISITS, unpack(marks)) end
  end
  return count + #unasked.members
end

-- How many of the batch each line gets: by the shares, as far as people wait there.
local function by_share(s, room)
  local offers, weights = {}, 0
  for _, line in ipairs(s.lines) do
    local present = next_present(s, line, room)
    local unasked = next_unasked(line, math.max(0, room - #present.members))
    local members = {}
    for _, list in ipairs({ present.members, unasked.members }) do
      for _, member in ipairs(list) do members[#members + 1] = member end
    end
    offers[line.index], weights = { members = members, taken = 0 }, weights + line.weight
  end
  share_out(s, offers, weights, room)
  return offers
end

local function call_all(s, room)
  if ARGV[6] ~= '' then return call_batch(s, s.lines[tonumber(ARGV[6]) + 1] or s.lines[1], room) end
  if #s.lines == 1 then return call_batch(s, s.lines[1], room) end
  local called, offers = 0, by_share(s, room)
  for _, line in ipairs(s.lines) do
    if offers[line.index].taken > 0 then called = called + call_batch(s, line, offers[line.index].taken) end
  end
  return called
end

local s = load_state()
if not s then return { { 'missing' }, {} } end
local request_id = 'admit ' .. ARGV[4]
local before, is_reused = recall(request_id)
if is_reused then return { { 'reused' }, short_snapshot(s) } end
if before then return { { 'ok', before }, short_snapshot(s) } end
tick(s)
pump(s)
local verdict
local wanted_line = ARGV[6] ~= '' and s.lines[tonumber(ARGV[6]) + 1]
if not CALLS[s.status] then
  verdict = { s.status }
elseif wanted_line and is_paused(wanted_line) then
  verdict = { 'paused' }
elseif is_crowded(s) then
  verdict = { 'busy' }
else
  local room = math.max(0, math.min(tonumber(ARGV[3]), BATCH_AT_MOST, slots_left(s)))
  verdict = { 'ok', text(call_all(s, room)) }
  remember(s, request_id, verdict[2])
end
save_state(s)
return { verdict, short_snapshot(s) }
