-- Who is called next: in order within a line, the late ones up to their share, the lines by theirs.
local CALL_AT_MOST = 200
-- A line's turn costs it this much over its weight (stride scheduling).
local STRIDE = 2 ^ 24

local function give_turns(s, line, members, positions)
  if #members == 0 then return end
  local lasts = s.claim_within
  -- Those who are called right after the opening may not have asked yet.
  if s.opened_at > 0 and s.lease <= s.opened_lease + 2 * s.spread then lasts = lasts + s.spread end
  local deadline, turns = text(s.lease + lasts), {}
  for i, member in ipairs(members) do
    turns[#turns + 1] = deadline
    turns[#turns + 1] = member
    line.cursor = math.max(line.cursor, positions[i])
    emit(s, 'called', member)
  end
  if s.ready > 0 then
    s.ready = s.ready - call('ZREM', READY, unpack(members))
    call('ZREM', SEEN, unpack(members))
  end
  local added = call('ZADD', CALLED, unpack(turns))
  s.called, line.held, s.turns = s.called + added, line.held + added, s.turns + added
end

local function range_ready(line, from, to, room)
  local found = call('ZRANGEBYSCORE', READY, from, to, 'LIMIT', '0', text(room))
  local positions = {}
  for i, member in ipairs(found) do
    local _, position = read_member(member)
    positions[i] = position
  end
  return { members = found, positions = positions }
end

-- Late and timely ones mixed by the share of the late, as far as there are both; `credits` says what credit is left after each.
local function mix(line, late, timely, room, share)
  local mixed = { members = {}, positions = {}, credits = {} }
  local l, t, credit = 1, 1, line.late_credit
  while #mixed.members < room and (late.members[l] or timely.members[t]) do
    credit = math.min(1999, credit + share)
    local is_late = late.members[l] and (credit >= 1000 or not timely.members[t])
    local from, i = is_late and late or timely, is_late and l or t
    if is_late then l, credit = l + 1, math.max(0, credit - 1000) else t = t + 1 end
    local n = #mixed.members + 1
    mixed.members[n], mixed.positions[n], mixed.credits[n] = from.members[i], from.positions[i], credit
  end
  return mixed
end

-- A line without weight is paused by itself: nobody in it is called or passed over.
local function is_paused(line) return line.weight == 0 end

-- The next `room` present people of a line in the order of their positions. Those before the cursor were passed over or let their
-- turn go: they come first, but with others present only up to their share. Credit is carried over, so that single calls alternate.
local function next_present(s, line, room)
  if s.ready == 0 or room == 0 or is_paused(line) then return { members = {}, positions = {} } end
  local first = range_ready(line, text(line.base), text(line.base + line.settled), room)
  if #first.members == 0 or first.positions[1] > line.cursor then return first end
  local late = range_ready(line, text(line.base), text(line.base + line.cursor), room)
  local timely = range_ready(line, '(' .. text(line.base + line.cursor), text(line.base + line.settled), room)
  if #timely.members == 0 then return late end
  return mix(line, late, timely, room, s.late_share)
end

-- The first `count` of an offer get their turn.
local function take(s, line, offer, count)
  local members, positions = {}, {}
  for i = 1, count do members[i], positions[i] = offer.members[i], offer.positions[i] end
  if offer.credits and count > 0 then line.late_credit = offer.credits[count] end
  give_turns(s, line, members, positions)
end

-- How many may be called now. Calls run ahead of the tokens by the time that a called visitor takes to come by, or each token
-- would stand idle for that long, and by those who do not come: a lease keeps the slot for them, but not the tokens.
local function may_call(s)
  local room = math.min(slots_left(s), CALL_AT_MOST)
  if s.pace and room > 0 then
    local ahead_ms = come_within(s)
    local expected = s.called > 0 and call('ZCOUNT', CALLED, '(' .. text(s.lease + s.claim_within - ahead_ms), '+inf') or 0
    room = math.min(room, math.floor((s.units + s.pace * ahead_ms) / UNITS * 1000 / share_coming(s)) - expected)
  end
  return math.max(0, room)
end

-- Nobody up to `settled` shows life and there is room: they are passed over, which costs nothing.
local function pass_over(s, line) line.cursor = math.max(line.cursor, line.settled) end

-- Whether a line of a group has more of the slots than its quota; it may, while those of others want none.
local function is_over_quota(s, line, weights)
  return s.is_group == 1 and s.max_active and line.held * weights >= s.max_active * line.weight
end

-- The line whose turn it is: lines under their quota first, then the one that had the least for its weight.
local function line_to_call(s, offers, weights)
  local best, best_over
  for _, line in ipairs(s.lines) do
    local offer = offers[line.index]
    if offer.taken < #offer.members then
      local over = is_over_quota(s, line, weights) and 1 or 0
      if not best or over < best_over or (over == best_over and line.pass < best.pass) then best, best_over = line, over end
    end
  end
  return best
end

local function offers_of(s, room)
  local offers, weights = {}, 0
  for _, line in ipairs(s.lines) do
    local offer = next_present(s, line, room)
    offer.taken, offers[line.index], weights = 0, offer, weights + line.weight
  end
  return offers, weights
end

-- A line without people earns no credit for later: it stands where the least served of the others does.
local function forget_credit(s, offers)
  local lowest
  for _, line in ipairs(s.lines) do
    if #offers[line.index].members > 0 then lowest = math.min(lowest or line.pass, line.pass) end
  end
  for _, line in ipairs(s.lines) do
    if lowest and #offers[line.index].members == 0 then line.pass = math.max(line.pass, lowest) end
  end
end

-- How many of `room` turns each line gets (`taken` of its offer): by the shares; what one does not use the others get.
local function share_out(s, offers, weights, room)
  local given = 0
  while given < room do
    local line = line_to_call(s, offers, weights)
    if not line then break end
    offers[line.index].taken, given = offers[line.index].taken + 1, given + 1
    line.pass = line.pass + math.floor(STRIDE / line.weight)
    line.held = line.held + 1 -- for the quotas of this round; `give_turns` counts them for good
  end
  forget_credit(s, offers)
  for _, line in ipairs(s.lines) do line.held = line.held - offers[line.index].taken end
  return given
end

local function call_lines(s, room)
  local offers, weights = offers_of(s, room)
  local given = share_out(s, offers, weights, room)
  for _, line in ipairs(s.lines) do
    local offer = offers[line.index]
    take(s, line, offer, offer.taken)
    if given < room and offer.taken == #offer.members and not is_paused(line) then pass_over(s, line) end
  end
end

local function call_next(s)
  if not CALLS[s.status] or s.by_hand then return end
  local room = may_call(s)
  if room == 0 then return end
  if #s.lines > 1 then return call_lines(s, room) end
  local line = s.lines[1]
  local next_up = next_present(s, line, room)
  take(s, line, next_up, #next_up.members)
  if #next_up.members < room then pass_over(s, line) end
end

local function queueing(s)
  if not CALLS[s.status] or s.must_queue then return 2 end
  -- Of which line a newcomer will be is not known yet.
  for _, line in ipairs(s.lines) do
    if is_paused(line) then return 2 end
  end
  if s.called > 0 or slots_left(s) == 0 or (s.pace and s.units < UNITS) or waiting(s) > 0 then return 2 end
  return s.clock < s.hold_until and 1 or 0
end
