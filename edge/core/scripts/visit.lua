-- One visitor's step: shows life, takes the turn. Used by join and touch.
-- Answers: {verdict, position, a, b}
--   waiting  position                      called  position, lease left ms, retry in ms
--   inside   position, expires at, renew at        ended  position
local function admit(s, position, member)
  local expires = s.clock + s.idle
  call('ZADD', ACTIVE, text(expires + 5000), member)
  if position > 0 then call('SETBIT', USED, text(position), '1') end
  s.active = s.active + 1
  return { 'inside', text(position), text(expires), text(s.clock + s.renew_every) }
end

local function inside_again(s, position, deadline)
  local expires = tonumber(deadline) - 5000
  if expires <= s.clock then return { 'ended', text(position) } end
  return { 'inside', text(position), text(expires), text(math.min(expires, s.clock + s.renew_every)) }
end

-- The rate's token and the slot are taken here and nowhere else: an admission is a claim.
local function claim(s, position, deadline, wants_in)
  local lease_left = deadline - s.lease
  local retry = 0
  if s.rate and s.units < UNITS then
    local rank = call('ZRANK', CALLED, text(position)) or 0
    retry = s.rate > 0 and math.ceil(((rank + 1) * UNITS - s.units) / s.rate) or 30000
    -- The minute is full: the turn is kept for as long as the wait is ours.
    if lease_left < retry + s.claim_within / 2 then
      lease_left = retry + s.claim_within
      call('ZADD', CALLED, 'XX', text(s.lease + lease_left), text(position))
    end
  end
  if not wants_in or retry > 0 or s.status ~= 'open' then
    return { 'called', text(position), text(lease_left), text(retry) }
  end
  call('ZREM', CALLED, text(position))
  s.called = s.called - 1
  if s.rate then s.units = s.units - UNITS end
  local took = math.max(0, math.min(s.claim_within, s.claim_within - lease_left))
  s.latency = math.floor((s.latency * 7 + took) / 8)
  s.admitted = s.admitted + 1
  call('ZADD', CLAIMS, text(s.clock), text(position))
  return admit(s, position, text(position))
end

local function visit(s, position, wants_in)
  local member = text(position)
  if call('GETBIT', USED, member) == 1 then
    local deadline = call('ZSCORE', ACTIVE, member)
    if deadline then return inside_again(s, position, deadline) end
    return { 'ended', member }
  end
  if call('GETBIT', LEFT, member) == 1 then return { 'ended', member } end
  if position > s.horizon then return { 'waiting', member } end
  local deadline = call('ZSCORE', CALLED, member)
  if not deadline then
    s.ready = s.ready + call('ZADD', READY, member, member)
    call('ZADD', SEEN, text(s.lease), member)
    call_next(s)
    deadline = call('ZSCORE', CALLED, member)
  end
  if not deadline then return { 'waiting', member } end
  return claim(s, position, tonumber(deadline), wants_in)
end

-- A new position. While everybody before it has been asked already and the window has room, it is born inside the window:
-- the arrival itself is the sign of life, so a short queue never waits for anyone to settle.
local function place(s, visitor)
  s.length = s.length + 1
  local position = s.length
  call('HSET', PLACES, visitor, text(position))
  if position - 1 <= s.horizon and s.horizon < position and s.ready < wanted(s) then
    s.horizon = position
    if s.settled == position - 1 then s.settled = position end
  end
  return position
end

local function known_place(visitor)
  return tonumber(call('HGET', PLACES, visitor) or call('HGET', PLACES_OLD, visitor) or 0)
end
