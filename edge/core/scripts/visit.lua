-- One visitor's step: shows life, takes the turn. Used by join, touch and renew.
-- Answers: {verdict, position, a, b}
--   waiting  position                      called  position, lease left ms, retry in ms
--   inside   position, expires at, renew at        ended  position
local function let_in(s, position, member)
  local expires = s.clock + s.idle
  s.active = s.active + call('ZADD', ACTIVE, text(expires + FREE_AFTER_MS), member)
  return { 'inside', text(position), text(expires), text(s.clock + s.renew_every) }
end

local function inside_again(s, position, deadline)
  local expires = tonumber(deadline) - FREE_AFTER_MS
  if expires <= s.clock then return { 'ended', text(position) } end
  return { 'inside', text(position), text(expires), text(math.min(expires, s.clock + s.renew_every)) }
end

-- How long after its call a visitor came by for the first time, of those who did not come in at that very moment: pages ask
-- before they go in. Waiting for a token is no part of it: calls would run ahead by their own waiting time, and further each time.
local function note_latency(s, lease_left)
  local took = math.max(0, math.min(s.claim_within, s.claim_within - lease_left))
  s.latency = math.floor((s.latency * 7 + took) / 8)
end

-- The rate's token and the slot are taken here and nowhere else: an admission is a claim.
local function claim(s, position, deadline, wants_in, is_new)
  local member = text(position)
  local has_come_by = deadline % 1 > 0
  local lease_left = math.floor(deadline) - s.lease
  local retry, kept = 0, lease_left
  local needed = s.rate and UNITS + units_promised(s.lease, s.promised, member) or 0
  if s.rate and s.units < needed then
    retry = s.rate > 0 and math.ceil((needed - s.units) / s.rate) or 30000
    -- The minute is full: the turn is kept, and the whole lease begins when the wait, which is ours, is over.
    kept = retry + s.claim_within
    s.promised = math.max(s.promised, s.lease + retry)
  end
  if not wants_in or retry > 0 or s.status ~= 'open' then
    if not has_come_by and not is_new then note_latency(s, lease_left) end
    local is_told = retry > 0 and '.5' or '.25'
    if retry > 0 or not has_come_by then call('ZADD', CALLED, 'XX', text(s.lease + kept) .. is_told, member) end
    return { 'called', member, text(kept), text(retry) }
  end
  s.called = s.called - call('ZREM', CALLED, member)
  if s.rate then s.units = s.units - UNITS end
  call('SETBIT', USED, member, '1')
  call('ZADD', CLAIMS, text(s.clock), member)
  return let_in(s, position, member)
end

local function visit(s, position, wants_in)
  local member = text(position)
  if call('GETBIT', USED, member) == 1 then
    local deadline = call('ZSCORE', ACTIVE, member)
    if deadline then return inside_again(s, position, deadline) end
    return { 'ended', member }
  end
  if is_over(member) then return { 'ended', member } end
  if position > s.horizon then return { 'waiting', member } end
  local deadline, is_new = call('ZSCORE', CALLED, member), false
  if not deadline then
    s.ready = s.ready + call('ZADD', READY, member, member)
    call('ZADD', SEEN, text(s.lease), member)
    call_next(s)
    deadline, is_new = call('ZSCORE', CALLED, member), true
  end
  if not deadline then return { 'waiting', member } end
  return claim(s, position, tonumber(deadline), wants_in, is_new)
end

-- A new position. While everybody before it has been asked already and the window has room, it is born inside the window:
-- the arrival itself is the sign of life, so a short queue never waits for anyone to settle.
local function place(s, visitor)
  s.length = s.length + 1
  local position = s.length
  call('HSET', PLACES, visitor, text(position))
  if s.horizon == position - 1 and s.ready < wanted(s) then
    s.horizon = position
    if s.settled == position - 1 then s.settled = position end
  end
  return position
end

-- A visitor who came back after a loss is in the map as '0' until the old order is complete.
local function known_place(s, visitor)
  local found = call('HGET', PLACES, visitor) or call('HGET', PLACES_OLD, visitor)
  if found ~= '0' then return tonumber(found or 0) end
  local rank = s.reentry_until == 0 and call('ZRANK', REENTRY, visitor)
  return rank and rank + 1 or 0
end

local function come_back(visitor, old_position)
  call('ZADD', REENTRY, 'NX', old_position, visitor)
  call('HSETNX', PLACES, visitor, '0')
end

-- Whether the state has never given this place, which our signature says it did: it was set back. Its number may have been
-- given again meanwhile.
local function was_set_back(s, position, visitor)
  if position > s.length then return true end
  if position <= s.mapped_from then return false end
  local member = text(position)
  return call('HGET', PLACES, visitor) ~= member and call('HGET', PLACES_OLD, visitor) ~= member
end
