-- What happens by itself as time passes: leases and passes end, the head window grows, the next are called.
-- Whoever runs any script runs this, at most every PUMP_EVERY_MS; every loop is bounded and the next call goes on.
local SWEEP = 50
local KEEP_KEYS_MS = 8 * 24 * 3600 * 1000
local KEEP_PLACES_MS = 3600000
local TTL_EVERY_MS = 60000
local SKEW_MS = 30000
-- Passes that were taken over have no position: their ends are kept after those that ride in the snapshot.
local TAKEN_OVER_SCORE = 1e15
local PASSED_EVERY_MS = 30000
local PASSED_KEPT = 4000
-- So many visitors far back are asked for a sign of life once a minute: five a second (design.md, law 6).
local SAMPLE_OF = 300
local SAMPLE_KEPT_MS = 150000
local SAMPLE_SETTLES_MS = 90000
local VISITS_SPAN_MS = 60000
--@include figures

-- Their turn is over; capacity goes on at once. What right they have to come back, visit.lua says.
local function end_leases(s)
  local lapsed = call('ZRANGEBYSCORE', CALLED, '-inf', '(' .. text(s.lease + 1), 'LIMIT', '0', text(SWEEP))
  if #lapsed == 0 then return false end
  s.called = s.called - call('ZREM', CALLED, unpack(lapsed))
  s.missed = s.missed + #lapsed
  local count = { 'OVERFLOW', 'SAT' }
  for _, member in ipairs(lapsed) do
    local line = find_line(s, member)
    line.held = line.held - 1
    for _, word in ipairs({ 'INCRBY', 'u4', '#' .. seat(member), '1' }) do count[#count + 1] = word end
    emit(s, 'missed', member)
  end
  if s.over_rate > 0 then
    for _, member in ipairs(lapsed) do s.over_rate = s.over_rate - call('HDEL', VISITS, 'o' .. member) end
  end
  for i, missed in ipairs(call('BITFIELD', LEFT, unpack(count))) do
    if missed == PLACE_LAPSED then
      s.lapsed = s.lapsed + 1
      emit(s, 'lapsed', lapsed[i])
    end
  end
  return #lapsed == SWEEP
end

-- Why a pass ended by itself: the time for the payment, the longest visit, or no request for too long.
local function reason_of_end(s, member)
  if not (s.checkout or s.visit_max) then return 'idle_expired' end
  local ends = call('HMGET', VISITS, 'h' .. member, 'c' .. member)
  call('HDEL', VISITS, 'h' .. member, 'c' .. member)
  if ends[2] and math.floor(ends[2]) <= s.clock then return 'checkout_expired' end
  if ends[1] and ends[1] + 0 <= s.clock then return 'pass_expired' end
  return 'idle_expired'
end

local function end_passes(s)
  local expired = call('ZRANGEBYSCORE', ACTIVE, '-inf', text(s.clock), 'LIMIT', '0', text(SWEEP))
  if #expired == 0 then return false end
  s.active = s.active - call('ZREM', ACTIVE, unpack(expired))
  s.expired = s.expired + #expired
  for _, member in ipairs(expired) do
    local reason = reason_of_end(s, member)
    s[reason] = s[reason] + 1
    if string.sub(member, 1, 1) ~= 'v' then
      local line = find_line(s, member)
      line.held = line.held - 1
    end
    emit(s, reason, member)
  end
  return #expired == SWEEP
end

local function sweep(s)
  local full = end_leases(s)
  full = end_passes(s) or full
  local silent = call('ZRANGEBYSCORE', SEEN, '-inf', text(s.lease - s.grace), 'WITHSCORES', 'LIMIT', '0', text(SWEEP))
  if #silent > 0 then
    note_silent(s, silent, 1)
    local members = {}
    for i = 1, #silent, 2 do members[#members + 1] = silent[i] end
    call('ZREM', SEEN, unpack(members))
    s.ready = s.ready - call('ZREM', READY, unpack(members))
    full = full or #members == SWEEP
  end
  note_waits(s)
  count_claims(s)
  call('ZREMRANGEBYSCORE', CLAIMS, '-inf', text(s.clock - 60000))
  call('ZREMRANGEBYSCORE', ENDED, '-inf', text(s.clock - SKEW_MS))
  call('ZREMRANGEBYSCORE', ENDED, text(TAKEN_OVER_SCORE), text(TAKEN_OVER_SCORE + s.clock - SKEW_MS))
  return full
end

-- Old places that came back in the short grace become the head of the new line, in their old order.
local function close_reentry(s)
  s.reentry_until = 0
  for _, line in ipairs(s.lines) do
    line.length = count_between(REENTRY, line, 0)
    line.mapped_from, line.rotated = line.length, line.length
  end
end

local function go_on_recovering(s)
  if s.reentry_until > 0 and s.clock >= s.reentry_until then close_reentry(s) end
  -- With an inventory nobody knows what was sold: the operator releases it.
  if s.recover_until > 0 and s.clock >= s.recover_until and s.reentry_until == 0 and not s.inventory then
    s.recover_until = 0
    set_status(s)
  end
end

-- A place is looked up by its visitor for one to two hours. Those above `mapped_from` are certainly still there.
local function turn_places(s)
  if s.clock < s.places_at + KEEP_PLACES_MS then return end
  call('UNLINK', PLACES_OLD)
  if call('EXISTS', PLACES) == 1 then call('RENAME', PLACES, PLACES_OLD) end
  for _, line in ipairs(s.lines) do
    line.mapped_from = s.clock < s.places_at + 2 * KEEP_PLACES_MS and line.rotated or line.length
    line.rotated = line.length
  end
  s.places_at = s.clock
end

-- When the cursor passed which position: how long the late ones may still come back (visit.lua).
local function note_passing(s)
  for _, line in ipairs(s.lines) do
    if s.lease >= line.passed_at + PASSED_EVERY_MS and line.cursor > 0 then
      line.passed_at = s.lease
      if not passed_at(line, line.cursor) then
        call('ZADD', PASSED, text(line.base + line.cursor), line.index .. ':' .. text(line.cursor) .. ':' .. text(s.lease))
        if call('ZCARD', PASSED) > PASSED_KEPT then call('ZREMRANGEBYRANK', PASSED, '0', '999') end
      end
    end
  end
end

-- Every `sample_every`-th place far back is asked once a minute; so the share of those still there is known without asking all.
local function take_sample(s)
  local far, gone, like_asked = 0, 0, 0
  for _, line in ipairs(s.lines) do
    local behind = math.max(0, line.length - line.horizon)
    far, like_asked = far + behind, like_asked + behind * line.share
    if line.length > line.horizon then gone = gone + count_between(GONE, line, line.horizon + 1) end
  end
  local every = 1
  while far / every > SAMPLE_OF do every = every * 2 end
  if far < SAMPLE_OF then every = 0 end
  if every > s.sample_every or every < s.sample_every / 4 then
    -- Places of a finer sample do not belong to the coarser one.
    if every == 0 or every > s.sample_every then call('UNLINK', SAMPLE) end
    s.sample_every, s.sample_from = every, s.lease + SAMPLE_SETTLES_MS
  end
  -- Until the sample says more, they are as those who were asked last.
  if s.sample_every == 0 or s.lease < s.sample_from then s.present = far > 0 and math.floor(like_asked / far) or 1000 end
  if s.sample_every == 0 then return end
  forget_silent(s)
  local expected = math.floor((far - gone) / s.sample_every)
  if s.lease >= s.sample_from and expected >= 20 then
    s.present = math.max(20, math.min(1000, math.floor(1000 * call('ZCOUNT', SAMPLE, '(0', '+inf') / expected)))
  end
end

-- New visits of the last minute, by what each node told of its own; of what it told a while ago a part is older by now. Nodes of
-- which nothing counts any more are forgotten.
local function visits_per_minute(s)
  local told, sum, silent = call('HGETALL', NODES), 0, {}
  for i = 1, #told, 2 do
    local count, at = string.match(told[i + 1], '^(%d+) (%d+)$')
    local part = count and 1 - (s.clock - at) / VISITS_SPAN_MS or 0
    if part > 0 then sum = sum + count * part else silent[#silent + 1] = told[i] end
  end
  if #silent > 0 then call('HDEL', NODES, unpack(silent)) end
  return sum
end

-- Queueing begins above the threshold; it ends when a minute long no look found more than four fifths of it, and nobody waits.
local function watch_load(s)
  if not s.above then return end
  local visits = visits_per_minute(s)
  if visits > s.above then
    s.is_dormant, s.quiet_from = 0, s.clock
  elseif visits * 5 > s.above * 4 or s.called + waiting(s) > 0 then
    s.quiet_from = s.clock
  elseif s.clock >= s.quiet_from + VISITS_SPAN_MS then
    s.is_dormant = 1
  end
  set_status(s)
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
  note_joins(s)
  local more = sweep(s)
  go_on_recovering(s)
  watch_load(s)
  if LEASE_RUNS[s.status] then move_window(s) end
  call_next(s)
  pass_the_gone(s)
  for _, line in ipairs(s.lines) do call('ZREMRANGEBYSCORE', GONE, text(line.base), text(line.base + line.cursor)) end
  if LEASE_RUNS[s.status] then
    note_passing(s)
    take_sample(s)
  end
  note_what_holds(s)
  turn_places(s)
  keep_keys(s)
  if queueing(s) == 2 then s.hold_until = s.clock + s.hold end
  s.pump_at = more and 0 or s.clock + PUMP_EVERY_MS
end
