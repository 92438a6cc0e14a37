-- One visitor's step: shows life, takes the turn. Used by join, touch and renew.
-- Answers: {verdict, member, a, b}
--   waiting  member, 'arrival' if it was given before the opening   called  member, lease left ms, retry in ms
--   inside   member, expires at, renew at    ended  member    lapsed  member, 'back' or 'refused'

-- When this visit ends at the latest, whatever is asked: the longest visit, and the time for the payment once that has begun.
local function hard_end(s, member)
  if s.visit_max == nil and s.checkout == nil then return math.huge, nil end
  local ends = call('HMGET', VISITS, 'h' .. member, 'c' .. member)
  return tonumber(ends[1] or nil) or math.huge, tonumber(ends[2] or nil)
end

local function expiry(s, member)
  local hard, checkout = hard_end(s, member)
  -- While the buyer pays no silence ends the visit.
  return math.min(checkout and math.floor(checkout) or s.clock + s.idle, hard)
end

local function inside_until(s, member, expires)
  return { 'inside', member, text(expires), text(math.min(expires, s.clock + s.renew_every)) }
end

local function let_in(s, member)
  local expires = expiry(s, member)
  if expires <= s.clock then return { 'ended', member } end
  s.active = s.active + call('ZADD', ACTIVE, text(expires + FREE_AFTER_MS), member)
  return inside_until(s, member, expires)
end

local function inside_again(s, member, deadline)
  local expires = tonumber(deadline) - FREE_AFTER_MS
  if expires <= s.clock then return { 'ended', member } end
  return inside_until(s, member, expires)
end

-- How long after its call a visitor came by for the first time, of those who did not come in at that very moment: pages ask
-- before they go in. Waiting for a token is no part of it: calls would run ahead by their own waiting time, and further each time.
local function note_latency(s, lease_left)
  local took = math.max(0, math.min(s.claim_within, s.claim_within - lease_left))
  s.latency = math.floor((s.latency * 7 + took) / 8)
end

local function keep_turn(s, member, deadline, retry, is_new)
  local has_come_by = deadline % 1 > 0
  local kept = math.floor(deadline) - s.lease
  if not has_come_by and not is_new then note_latency(s, kept) end
  if retry > 0 then
    -- The minute is full: the turn is kept, and the whole lease begins when the wait, which is ours, is over.
    kept = retry + s.claim_within
    s.promised = math.max(s.promised, s.lease + retry)
  end
  local is_told = retry > 0 and '.5' or '.25'
  if retry > 0 or not has_come_by then call('ZADD', CALLED, 'XX', text(s.lease + kept) .. is_told, member) end
  return { 'called', member, text(kept), text(retry) }
end

-- The rate's token and the slot are taken here and nowhere else: an admission is a claim.
local function claim(s, member, deadline, wants_in, is_new)
  local is_over_rate = s.over_rate > 0 and call('HEXISTS', VISITS, 'o' .. member) == 1
  local has_rate = s.pace ~= nil and not is_over_rate
  local retry, needed = 0, has_rate and UNITS + units_promised(s.lease, s.promised, member) or 0
  if has_rate and s.units < needed then retry = s.pace > 0 and math.ceil((needed - s.units) / s.pace) or 30000 end
  if not wants_in or retry > 0 or not CALLS[s.status] then return keep_turn(s, member, deadline, retry, is_new) end
  s.called = s.called - call('ZREM', CALLED, member)
  if has_rate then s.units = s.units - UNITS end
  if is_over_rate then s.over_rate = s.over_rate - call('HDEL', VISITS, 'o' .. member) end
  if s.visit_max then call('HSET', VISITS, 'h' .. member, text(s.clock + s.visit_max)) end
  call('SETBIT', USED, seat(member), '1')
  call('ZADD', CLAIMS, text(s.clock), member)
  emit(s, 'admitted', member)
  return let_in(s, member)
end

-- Whoever let a turn go, or was away when it came by, has a right to come back that is stated and bounded (law 5).
local function has_lapsed(s, line, position, missed)
  if position > line.cursor then return false end
  if missed > 0 and s.late_claim ~= 'head' then return true end
  local at = passed_at(line, position)
  return at ~= nil and s.lease > at + s.claim_within + s.late_within
end

local function lapse(s, member)
  mark(member, PLACE_LAPSED)
  s.lapsed = s.lapsed + 1
  call('ZREM', READY, member)
  call('ZREM', SEEN, member)
  emit(s, 'lapsed', member)
  return { 'lapsed', member, s.late_claim == 'refused' and 'refused' or 'back' }
end

local function show_far_away(s, position, member)
  if s.sample_every > 0 and position % s.sample_every == 0 then call('ZADD', SAMPLE, text(s.lease), member) end
  return { 'waiting', member }
end

-- Near the head: the sign of life, and the turn if it comes.
local function stand_near(s, line, position, member, missed, wants_in)
  local deadline, is_new = call('ZSCORE', CALLED, member), false
  if not deadline then
    if has_lapsed(s, line, position, missed) then return lapse(s, member) end
    local is_first = call('ZADD', READY, text(line.base + position), member) == 1
    if is_first then s.ready = s.ready + 1 end
    call('ZADD', SEEN, text(s.lease), member)
    if s.sample_every > 0 then call('ZREM', SAMPLE, member) end
    -- Whoever was there already, the sweep has called if it could.
    if not is_first or (position > line.cursor and position > line.settled) then return { 'waiting', member } end
    call_next(s)
    deadline, is_new = call('ZSCORE', CALLED, member), true
  end
  if not deadline then return { 'waiting', member } end
  return claim(s, member, tonumber(deadline), wants_in, is_new)
end

local function visit(s, line, position, wants_in)
  local member = member_of(line, position)
  if is_before_opening(s) then return { 'waiting', member, 'arrival' } end
  if was_used(member) then
    local deadline = call('ZSCORE', ACTIVE, member)
    return deadline and inside_again(s, member, deadline) or { 'ended', member }
  end
  local missed = missed_turns(member)
  if missed >= PLACE_OVER then return { 'ended', member } end
  if missed >= PLACE_LAPSED then return { 'lapsed', member, s.late_claim == 'refused' and 'refused' or 'back' } end
  if not LEASE_RUNS[s.status] and s.status ~= 'paused' then
    local deadline = call('ZSCORE', CALLED, member)
    if deadline then return claim(s, member, tonumber(deadline), false, true) end
    return { 'waiting', member }
  end
  if position > line.horizon then return show_far_away(s, position, member) end
  return stand_near(s, line, position, member, missed, wants_in)
end
