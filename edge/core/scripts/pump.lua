-- What happens by itself as time passes: leases and passes end, the head window grows, the next are called.
-- Whoever runs any script runs this, at most every PUMP_EVERY_MS; every loop is bounded and the next call goes on.
local SWEEP = 50
local CALL_AT_MOST = 200
local WINDOW_FLOOR = 50
local WINDOW_CEILING = 50000
-- Free slots widen the window by no more than this at a time; the rate widens it as far as it needs.
local WINDOW_FOR_SLOTS = 5000
-- While others are present, those who come late to their turn get at most this part of the calls, in thousandths (law 3).
local LATE_SHARE = 500
local KEEP_KEYS_MS = 8 * 24 * 3600 * 1000
local KEEP_PLACES_MS = 3600000
local TTL_EVERY_MS = 60000
local SKEW_MS = 30000
-- Passes that were taken over have no position: their ends are kept after those that ride in the snapshot.
local TAKEN_OVER_SCORE = 1e15
-- Two bits count the turns that a place has missed; a place that is over has three.
local PLACE_OVER = 3
local function is_over(member) return call('BITFIELD', LEFT, 'GET', 'u2', '#' .. member)[1] == PLACE_OVER end

local function slots_left(s)
  local left = math.huge
  if s.max_active then left = math.min(left, s.max_active - s.active - s.called) end
  if s.inventory then left = math.min(left, s.inventory - s.sold - s.active - s.called) end
  return math.max(0, left)
end

-- Positions behind the cursor that have not left.
local function behind_cursor(s)
  if s.length <= s.cursor then return 0 end
  return math.max(0, s.length - s.cursor - call('ZCOUNT', GONE, text(s.cursor + 1), '+inf'))
end

local function waiting(s)
  local returned = s.ready > 0 and call('ZCOUNT', READY, '-inf', text(s.cursor)) or 0
  return behind_cursor(s) + returned
end

-- When all behind the cursor have left, the line is over: who comes now is next.
local function pass_the_gone(s)
  if s.horizon < s.length and behind_cursor(s) == 0 then
    s.cursor, s.horizon, s.settled = s.length, s.length, s.length
  end
end

local function end_leases(s)
  local lapsed = call('ZRANGEBYSCORE', CALLED, '-inf', '(' .. text(s.lease + 1), 'LIMIT', '0', text(SWEEP))
  if #lapsed == 0 then return false end
  s.called = s.called - call('ZREM', CALLED, unpack(lapsed))
  s.missed = s.missed + #lapsed
  -- Each may come back to its place twice; the third missed turn ends it.
  local count = { 'OVERFLOW', 'SAT' }
  for _, member in ipairs(lapsed) do
    for _, word in ipairs({ 'INCRBY', 'u2', '#' .. member, '1' }) do count[#count + 1] = word end
  end
  for _, missed in ipairs(call('BITFIELD', LEFT, unpack(count))) do
    if missed == PLACE_OVER then s.lapsed = s.lapsed + 1 end
  end
  return #lapsed == SWEEP
end

local function sweep(s)
  local full = end_leases(s)
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
  -- Those of this very millisecond are counted by the next sweep, with the others that may still come in it.
  s.admitted = s.admitted + call('ZCOUNT', CLAIMS, text(s.counted_until), '(' .. text(s.clock))
  s.counted_until = s.clock
  call('ZREMRANGEBYSCORE', CLAIMS, '-inf', text(s.clock - 60000))
  call('ZREMRANGEBYSCORE', ENDED, '-inf', text(s.clock - SKEW_MS))
  call('ZREMRANGEBYSCORE', ENDED, text(TAKEN_OVER_SCORE), text(TAKEN_OVER_SCORE + s.clock - SKEW_MS))
  return full
end

-- A called visitor who is there comes by within this time; after it, none is expected.
local function come_within(s) return math.min(s.claim_within, 2000 + math.floor(s.latency * 3 / 2)) end

-- How many of those called lately came in, of all who had the time to, in thousandths; never less than a tenth, so that the
-- crowd that may come after all is bounded.
local function share_coming(s)
  if s.called == 0 then return 1000 end
  local span, leases_from = math.min(60000, s.claim_within), s.lease + s.claim_within
  local overdue = call('ZCOUNT', CALLED, '(' .. text(leases_from - span), text(leases_from - come_within(s)))
  if overdue == 0 then return 1000 end
  local came = call('ZCOUNT', CLAIMS, '(' .. text(s.clock - span), '+inf')
  return math.max(100, math.floor(1000 * (came + 1) / (came + overdue + 1)))
end

-- How many present people the window should hold: two settling times of calls, and one for each free slot.
local function wanted(s)
  local per_minute = s.rate or call('ZCARD', CLAIMS)
  local free = slots_left(s)
  if free == math.huge then free = 0 end
  local calls = math.ceil(2 * per_minute * s.settle / 60 / share_coming(s))
  return WINDOW_FLOOR + math.min(calls, WINDOW_CEILING) + math.min(free, WINDOW_FOR_SLOTS)
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

local function give_turns(s, members)
  if #members == 0 then return end
  local deadline, turns = text(s.lease + s.claim_within), {}
  for _, member in ipairs(members) do
    turns[#turns + 1] = deadline
    turns[#turns + 1] = member
    s.cursor = math.max(s.cursor, tonumber(member))
  end
  if s.ready > 0 then
    s.ready = s.ready - call('ZREM', READY, unpack(members))
    call('ZREM', SEEN, unpack(members))
  end
  s.called = s.called + call('ZADD', CALLED, unpack(turns))
end

-- The next `room` present people in the order of their positions. Those before the cursor were passed over or let their turn
-- go: they come first, but with others present only up to their share. Credit is carried over, so that single calls alternate.
local function next_present(s, room)
  if s.ready == 0 or room == 0 then return {} end
  local first = call('ZRANGEBYSCORE', READY, '-inf', text(s.settled), 'LIMIT', '0', text(room))
  if #first == 0 or tonumber(first[1]) > s.cursor then return first end
  local late = call('ZRANGEBYSCORE', READY, '-inf', text(s.cursor), 'LIMIT', '0', text(room))
  local timely = call('ZRANGEBYSCORE', READY, '(' .. text(s.cursor), text(s.settled), 'LIMIT', '0', text(room))
  if #timely == 0 then return late end
  local count = math.min(room, #late + #timely)
  local credit = s.late_credit + count * LATE_SHARE
  local late_count = math.min(#late, math.max(math.floor(credit / 1000), count - #timely))
  s.late_credit = math.max(0, math.min(999, credit - late_count * 1000))
  local chosen = {}
  for i = 1, late_count do chosen[i] = late[i] end
  for i = 1, count - late_count do chosen[#chosen + 1] = timely[i] end
  return chosen
end

-- How many may be called now. Calls run ahead of the tokens by the time that a called visitor takes to come by, or each token
-- would stand idle for that long, and by those who do not come: a lease keeps the slot for them, but not the tokens.
local function may_call(s)
  local room = math.min(slots_left(s), CALL_AT_MOST)
  if s.rate and room > 0 then
    local ahead_ms = come_within(s)
    local expected = s.called > 0 and call('ZCOUNT', CALLED, '(' .. text(s.lease + s.claim_within - ahead_ms), '+inf') or 0
    room = math.min(room, math.floor((s.units + s.rate * ahead_ms) / UNITS * 1000 / share_coming(s)) - expected)
  end
  return math.max(0, room)
end

local function call_next(s)
  if s.status ~= 'open' or s.manual == 1 then return end
  local room = may_call(s)
  if room == 0 then return end
  local next_up = next_present(s, room)
  give_turns(s, next_up)
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
  s.mapped_from, s.rotated = s.length, s.length
end

local function go_on_recovering(s)
  if s.reentry_until > 0 and s.clock >= s.reentry_until then close_reentry(s) end
  -- With an inventory nobody knows what was sold: the operator releases it.
  if s.recover_until > 0 and s.clock >= s.recover_until and s.reentry_until == 0 and not s.inventory then
    s.recover_until = 0
    if s.status == 'recovering' then s.status = 'open' end
  end
end

-- A place is looked up by its visitor for one to two hours. Those above `mapped_from` are certainly still there.
local function turn_places(s)
  if s.clock < s.places_at + KEEP_PLACES_MS then return end
  call('UNLINK', PLACES_OLD)
  if call('EXISTS', PLACES) == 1 then call('RENAME', PLACES, PLACES_OLD) end
  s.mapped_from = s.clock < s.places_at + 2 * KEEP_PLACES_MS and s.rotated or s.length
  s.rotated, s.places_at = s.length, s.clock
end

-- Rubbish of a queue that nobody asks for any more goes by itself, up to what came in its last minute. The state stays: a
-- pause and an operator's limits mean something for as long as nobody takes them back.
local function keep_keys(s)
  if s.clock < s.ttl_at then return end
  for i = 2, #KEYS do call('PEXPIRE', KEYS[i], text(KEEP_KEYS_MS)) end
  s.ttl_at = s.clock + TTL_EVERY_MS
end

local function pump(s, force)
  if not force and s.clock < s.pump_at then return end
  local more = sweep(s)
  go_on_recovering(s)
  if s.status ~= 'paused' then move_window(s) end
  call_next(s)
  pass_the_gone(s)
  call('ZREMRANGEBYSCORE', GONE, '-inf', text(s.cursor))
  turn_places(s)
  keep_keys(s)
  if queueing(s) == 2 then s.hold_until = s.clock + s.hold end
  s.pump_at = more and 0 or s.clock + PUMP_EVERY_MS
end
