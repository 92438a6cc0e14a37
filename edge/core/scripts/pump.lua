-- What happens by itself as time passes: leases and passes end, the head window grows, the next are called.
-- Whoever runs any script runs this, at most every PUMP_EVERY_MS; every loop is bounded and the next call goes on.
local SWEEP = 50
local CALL_AT_MOST = 200
local WINDOW_FLOOR = 50
local WINDOW_CEILING = 5000
local KEEP_KEYS_MS = 8 * 24 * 3600 * 1000
local SKEW_MS = 30000

local function slots_left(s)
  local left = math.huge
  if s.max_active then left = math.min(left, s.max_active - s.active - s.called) end
  if s.inventory then left = math.min(left, s.inventory - s.sold - s.active - s.called) end
  return math.max(0, left)
end

local function waiting(s)
  local returned = s.ready > 0 and call('ZCOUNT', READY, '-inf', text(s.cursor)) or 0
  if s.length <= s.cursor then return returned end
  return math.max(0, s.length - s.cursor - call('ZCOUNT', GONE, text(s.cursor + 1), '+inf')) + returned
end

local function sweep(s)
  local full = false
  local lapsed = call('ZRANGEBYSCORE', CALLED, '-inf', text(s.lease), 'LIMIT', '0', text(SWEEP))
  if #lapsed > 0 then
    s.called = s.called - call('ZREM', CALLED, unpack(lapsed))
    s.missed = s.missed + #lapsed
    full = full or #lapsed == SWEEP
  end
  local expired = call('ZRANGEBYSCORE', ACTIVE, '-inf', text(s.clock), 'LIMIT', '0', text(SWEEP))
  if #expired > 0 then
    s.active = s.active - call('ZREM', ACTIVE, unpack(expired))
    s.expired = s.expired + #expired
    full = full or #expired == SWEEP
  end
  local silent = call('ZRANGEBYSCORE', SEEN, '-inf', text(s.lease - s.grace), 'LIMIT', '0', text(SWEEP))
  if #silent > 0 then
    call('ZREM', SEEN, unpack(silent))
    s.ready = s.ready - call('ZREM', READY, unpack(silent))
    full = full or #silent == SWEEP
  end
  call('ZREMRANGEBYSCORE', CLAIMS, '-inf', text(s.clock - 60000))
  call('ZREMRANGEBYSCORE', ENDED, '-inf', text(s.clock - SKEW_MS))
  return full
end

-- How many present people the window should hold: two settling times of outflow, and one for each free slot.
local function wanted(s)
  local per_minute = s.rate or call('ZCARD', CLAIMS)
  local free = slots_left(s)
  if free == math.huge then free = 0 end
  return math.min(WINDOW_CEILING, WINDOW_FLOOR + math.ceil(2 * per_minute * s.settle / 60000) + free)
end

-- Positions up to `horizon` are asked for a sign of life; those up to `settled` have had time to give one.
local function move_window(s)
  if s.settled < s.horizon and s.lease >= s.raised_at + s.settle then
    local asked = s.horizon - s.settled
    local present = call('ZCOUNT', READY, text(s.settled + 1), text(s.horizon))
    s.share = math.max(50, math.floor(1000 * present / asked))
    s.settled = s.horizon
  end
  if s.settled == s.horizon and s.horizon < s.length then
    local missing = wanted(s) - s.ready
    if missing > 0 then
      local step = math.ceil(missing * 1000 / s.share)
      step = math.min(step, 4 * math.max(s.raise_step, WINDOW_FLOOR), s.length - s.horizon)
      s.horizon, s.raise_step, s.raised_at = s.horizon + step, step, s.lease
    end
  end
end

local function give_turn(s, position)
  s.called = s.called + 1
  if position > s.cursor then s.cursor = position end
  call('ZADD', CALLED, text(s.lease + s.claim_within), text(position))
end

-- How many may be called now. Calls run ahead of the tokens by the time that a claim takes to arrive, or each token would
-- stand idle for that long.
local function may_call(s)
  local room = math.min(slots_left(s), CALL_AT_MOST)
  if s.rate then
    local ahead_ms = math.min(s.claim_within, 2000 + math.floor(s.latency * 3 / 2))
    room = math.min(room, math.floor((s.units + s.rate * ahead_ms) / UNITS) - s.called)
  end
  return math.max(0, room)
end

local function call_next(s)
  if s.status ~= 'open' or s.manual == 1 then return end
  local room = may_call(s)
  if room == 0 then return end
  local next_up = s.ready > 0 and call('ZRANGEBYSCORE', READY, '-inf', text(s.settled), 'LIMIT', '0', text(room)) or {}
  if #next_up > 0 then
    s.ready = s.ready - call('ZREM', READY, unpack(next_up))
    call('ZREM', SEEN, unpack(next_up))
    for _, member in ipairs(next_up) do give_turn(s, tonumber(member)) end
  end
  -- Nobody up to `settled` shows life and there is room: they are passed over, which costs nothing.
  if #next_up < room and s.settled > s.cursor then s.cursor = s.settled end
end

local function queueing(s)
  if s.status ~= 'open' or s.manual == 1 or s.always == 1 then return 2 end
  if s.called > 0 or slots_left(s) == 0 or (s.rate and s.units < UNITS) or waiting(s) > 0 then return 2 end
  return s.clock < s.hold_until and 1 or 0
end

-- Old places that came back in the short grace become the head of the new line, in their old order.
local function close_reentry(s)
  s.length, s.reentry_until = call('ZCARD', REENTRY), 0
end

local function end_recovery(s)
  if s.reentry_until > 0 and s.clock >= s.reentry_until then close_reentry(s) end
  if s.clock >= s.recover_until and s.reentry_until == 0 and not s.inventory then s.status = 'open' end
end

local function housekeeping(s)
  if s.clock - s.places_at >= 3600000 then
    call('UNLINK', PLACES_OLD)
    if call('EXISTS', PLACES) == 1 then call('RENAME', PLACES, PLACES_OLD) end
    s.places_at = s.clock
  end
  if s.clock >= s.ttl_at then
    for _, key in ipairs(KEYS) do call('PEXPIRE', key, text(KEEP_KEYS_MS)) end
    s.ttl_at = s.clock + 3600000
  end
end

local function pump(s, force)
  if not force and s.clock < s.pump_at then return end
  local more = sweep(s)
  if s.status == 'recovering' then end_recovery(s) end
  if s.status ~= 'paused' then move_window(s) end
  call_next(s)
  call('ZREMRANGEBYSCORE', GONE, '-inf', text(s.cursor))
  housekeeping(s)
  if queueing(s) == 2 then s.hold_until = s.clock + s.hold end
  s.pump_at = more and 0 or s.clock + PUMP_EVERY_MS
end
