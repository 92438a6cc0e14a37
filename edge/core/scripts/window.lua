-- The head window of a line: who is asked for a sign of life, who has had the time to give one, and how many are wanted there.
local WINDOW_FLOOR = 50
local WINDOW_CEILING = 50000
-- Free slots widen the window by no more than this at a time; the rate widens it as far as it needs.
local WINDOW_FOR_SLOTS = 5000
-- So many raises lie within one settling time.
local RAISES = 8

local function slots_left(s)
  local left = math.huge
  if s.max_active then left = math.min(left, s.max_active - s.active - s.called) end
  if s.inventory then left = math.min(left, s.inventory - s.sold - s.active - s.called) end
  return math.max(0, left)
end

-- Members of a sorted set that is scored by place, between two positions of a line.
local function count_between(key, line, from, to)
  return call('ZCOUNT', key, text(line.base + from), to and text(line.base + to) or '(' .. text(line.base + LINE))
end

-- When the cursor passed a position, to half a minute; nil if that was just now.
local function passed_at(line, position)
  local found = call('ZRANGEBYSCORE', PASSED, text(line.base + position), '(' .. text(line.base + LINE), 'LIMIT', '0', '1')[1]
  return found and tonumber(string.match(found, '(%d+)$'))
end

local function ready_of(s, line)
  if s.ready == 0 or #s.lines == 1 then return s.ready end
  return count_between(READY, line, 0)
end

-- Positions behind the cursor that have not left.
local function behind_cursor(line)
  if line.length <= line.cursor then return 0 end
  return math.max(0, line.length - line.cursor - count_between(GONE, line, line.cursor + 1))
end

local function waiting_in(s, line)
  return behind_cursor(line) + (s.ready > 0 and count_between(READY, line, 0, line.cursor) or 0)
end

local function waiting(s)
  local sum = 0
  for _, line in ipairs(s.lines) do sum = sum + waiting_in(s, line) end
  return sum
end

-- When all behind the cursor have left, the line is over: who comes now is next.
local function pass_the_gone(s)
  if is_before_opening(s) then return end
  for _, line in ipairs(s.lines) do
    if line.horizon < line.length and behind_cursor(line) == 0 then
      line.cursor, line.horizon, line.settled = line.length, line.length, line.length
    end
  end
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

-- The part of the calls that a line may count on: all of them, unless people wait in others too.
local function part_of(s, line)
  local sum = line.weight
  for _, other in ipairs(s.lines) do
    if other ~= line and other.length > other.cursor then sum = sum + other.weight end
  end
  return sum > 0 and line.weight / sum or 1
end

-- Admissions a minute when nothing but the slots holds people: what was seen then, or in the last minute if that is more.
local function full_speed(s)
  local seen = s.outflow_known > 200000 and s.outflow / s.outflow_known * 1000 or 0
  return math.max(seen, call('ZCARD', CLAIMS))
end

-- How many present people the window should hold: two settling times of calls, and one for each free slot; and how many that would
-- be if all who are called came in.
local function wanted(s, line)
  local free = slots_left(s)
  local per_minute = s.pace or full_speed(s)
  -- While every slot is taken, people come in as others go, whatever the rate would allow.
  if free == 0 then per_minute = math.min(per_minute, full_speed(s)) end
  if free == math.huge then free = 0 end
  local part, calls = #s.lines > 1 and part_of(s, line) or 1, 2 * per_minute * s.settle / 60
  local function of(count) return WINDOW_FLOOR + math.ceil(part * (math.min(count, WINDOW_CEILING) + math.min(free, WINDOW_FOR_SLOTS))) end
  return of(math.ceil(calls / share_coming(s))), of(math.ceil(calls / 1000))
end

-- At the opening everybody's page asks within `spread`, and never all in the same instant: clocks and lines differ by seconds.
-- Later the window grows by those who may be in a hidden tab.
local ASKED_AT_ONCE_MS = 5000
local function settle_time(s, raised_at)
  return s.opened_at > 0 and raised_at == s.opened_lease and math.max(s.spread, ASKED_AT_ONCE_MS) or s.settle
end

-- Who comes into the window is no longer far back: at most SAMPLE_OF of those are in the sample.
local function leave_sample(s, line, from, to)
  if s.sample_every == 0 then return end
  local members = {}
  for position = from - from % s.sample_every + s.sample_every, to, s.sample_every do
    members[#members + 1] = member_of(line, position)
  end
  if #members > 0 then call('ZREM', SAMPLE, unpack(members)) end
end

-- What became of the raises (`position@lease ms` each, oldest first): those who were asked long enough ago have had their time. The
-- share of them who showed life is what is expected of the next; the more are still being asked, the less one raise says.
local function settle_raises(s, line)
  local before, left, last = line.settled, {}, -math.huge
  for position, at in string.gmatch(line.raises, '(%d+)@(%d+)') do
    last = at + 0
    if s.lease >= last + settle_time(s, last) then
      line.settled = math.max(line.settled, position + 0)
    elseif position + 0 > line.settled then
      left[#left + 1] = position .. '@' .. at
    end
  end
  line.raises = table.concat(left, ' ')
  -- Whoever was born inside the window behind the last raise has shown life by that.
  if #left == 0 then line.settled = line.horizon end
  local asked = line.settled - before
  if asked > 0 then
    local present, weight = count_between(READY, line, before + 1, line.settled), line.horizon - line.settled
    line.share = math.max(50, math.floor((line.share * weight + 1000 * present) / (weight + asked)))
  end
  return last, #left
end

-- How many of the window are there: those who showed life, and of those still being asked as many as of the ones before.
local function present_in(s, line)
  local asked, ready = line.horizon - line.settled, ready_of(s, line)
  if asked <= 0 then return ready end
  local heard = count_between(READY, line, line.settled + 1, line.horizon)
  return ready - heard + math.max(heard, math.floor(asked * line.share / 1000))
end

-- Positions up to `horizon` are asked for a sign of life; those up to `settled` have had time to give one. The window slides: it is
-- raised in many small steps within one settling time, and at once when much is missing. While few of those asked are there,
-- no more than four times as many are being asked as one settling time (`raised_at`) before.
local function move_line(s, line)
  local asked_before = line.horizon - line.settled
  local last, raises = settle_raises(s, line)
  if s.lease >= line.raised_at + s.settle or asked_before == 0 then line.raise_step, line.raised_at = asked_before, s.lease end
  if line.horizon >= line.length then return end
  local goal, least = wanted(s, line)
  local missing = goal - present_in(s, line)
  local is_due = s.lease >= last + s.settle / RAISES or (missing > goal / 2 and raises < 2 * RAISES)
  if missing <= 0 or not is_due then return end
  local asked, step = line.horizon - line.settled, math.ceil(missing * 1000 / line.share)
  if line.horizon == 0 and s.opened_lease == s.lease then
    step = 2 * step
  else
    step = math.min(step, math.max(least, 4 * line.raise_step) - asked)
  end
  step = math.min(step, line.length - line.horizon)
  if step <= 0 then return end
  leave_sample(s, line, line.horizon, line.horizon + step)
  line.horizon = line.horizon + step
  line.raises = line.raises .. ' ' .. text(line.horizon) .. '@' .. text(s.lease)
end

local function move_window(s)
  for _, line in ipairs(s.lines) do move_line(s, line) end
end
