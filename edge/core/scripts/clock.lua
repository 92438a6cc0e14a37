-- Two clocks, and `wall`, what the server's clock said last; kept as distances from the first, which seldom change: `clock`
-- follows the server (passes, rate, deadlines of the queue); `lease` is a stopwatch that stands still while nobody can be called
-- (turns, presence, settling). Neither ever moves by more than half of what it measures in one look (`max_step`,
-- `max_lease_step`), so that a jump of the server's clock cannot end everything at once.

-- No look at the clock moves it further while people wait: longer than a hidden tab's poll (60 s).
local MAX_STEP_MS = 75000
-- In these states turns and presence run (edge/core/states.py has the whole table).
local LEASE_RUNS = { open = true, draining = true, recovering = true }
local CALLS = { open = true, draining = true }
-- In these a visitor who has no place gets one, if arrivals have begun.
local GIVES_PLACES = { open = true, paused = true, prequeue = true, recovering = true }

-- How far the clock moves when the server's moved by `passed` ms to `wall_now`: as far, but a quarter faster or a tenth slower
-- until both agree again; never back, and never by more than `limit` in one look.
local function clock_step(passed, clock, wall_now, limit)
  local behind = wall_now - clock - passed
  local correction = behind > 0 and math.min(behind, math.floor(passed / 4)) or -math.min(-behind, math.floor(passed / 10))
  return math.min(limit, passed + correction)
end

-- What idle time may save up. Unset burst: a sixth of the rate (ten seconds' worth), at least one. A rate of 0 saves nothing.
local function bucket_units(rate, burst)
  if rate == 0 then return 0 end
  return math.max(1, burst or math.floor(rate / 6)) * UNITS
end

local function is_before_opening(s) return s.opens_at > 0 and s.opened_at == 0 end

local function gives_places(s)
  if not GIVES_PLACES[s.status] then return false end
  return not is_before_opening(s) or (s.prequeue_at > 0 and s.clock >= s.prequeue_at)
end

-- The state of the queue as everybody sees it: what an operator said, then the loss, the schedule and the stock.
local function effective_status(s)
  if s.mode == 'maintenance' then return 'maintenance' end
  if s.mode == 'closed' or (s.closes_at > 0 and s.clock >= s.closes_at) then return 'closed' end
  if s.mode == 'paused' then return 'paused' end
  if s.recover_until > 0 then return 'recovering' end
  if is_before_opening(s) then
    local has_begun = s.prequeue_at > 0 and s.clock >= s.prequeue_at
    return has_begun and 'prequeue' or 'not_open'
  end
  if s.inventory and s.sold >= s.inventory then return 'sold_out' end
  return s.mode == 'draining' and 'draining' or 'open'
end

-- Everybody who came before the opening is asked for a sign of life at once, and has `spread` for it.
local function open_doors(s)
  s.opened_at, s.opened_lease = s.clock, s.lease
  for _, line in ipairs(s.lines) do line.cursor, line.horizon, line.settled = 0, 0, 0 end
  emit(s, 'opened', '0')
end

-- From `opens_at` on nobody comes into the draw any more: who arrives while a seed or a beacon is awaited stands behind those.
local function close_draw(s)
  if s.is_counted == 1 then return end
  s.is_counted = 1
  for _, line in ipairs(s.lines) do line.drawn = line.length end
end

-- A queue opens by its own clock, whoever looks at it; one whose order is drawn waits for the seed (the script `open`).
local function open_if_due(s)
  if s.opens_at == 0 or s.opened_at > 0 or s.clock < s.opens_at or s.reentry_until > 0 then return end
  if s.is_drawn == 0 or positions_given(s) == 0 then return open_doors(s) end
  close_draw(s)
end

local function set_status(s)
  open_if_due(s)
  s.status = effective_status(s)
  -- While new visits stay under the threshold nobody is held by the rate, nor by `always_queue` or `manual`.
  local is_free = s.above and s.is_dormant == 1
  s.pace = not is_free and s.rate or nil
  s.must_queue = not is_free and (s.manual == 1 or s.always == 1)
  s.by_hand = not is_free and s.manual == 1
end

-- Moves time and fills the bucket at the rate in force until now. What is earned never exceeds either clock.
local function tick(s)
  count_people(s)
  local wall_now = server_ms()
  local passed = math.max(0, wall_now - s.wall)
  local waits = s.ready + s.called > 0 or s.recover_until > s.clock
  -- Silence while people are only inside, or while nobody is there, is no jump: those who wait ask at least once a minute.
  local limit = waits and s.max_step or math.huge
  if s.reentry_until > 0 then limit = math.min(limit, math.floor(s.settle / 2)) end
  local step = clock_step(passed, s.clock, wall_now, limit)
  if not waits and s.active == 0 then step = math.max(step, wall_now - s.clock) end
  s.wall, s.clock = wall_now, s.clock + step
  if LEASE_RUNS[s.status] then s.lease = s.lease + math.min(passed, s.max_lease_step) end
  if s.rate then s.units = math.min(s.bucket, s.units + s.rate * math.min(passed, step)) end
  set_status(s)
end

-- After the settings changed: the bucket keeps what it holds, up to its new size; a rate that begins finds it full.
local function apply_settings(s, had_rate)
  s.max_step = math.min(MAX_STEP_MS, math.floor(s.idle / 2))
  s.max_lease_step = math.min(MAX_STEP_MS, math.floor(s.claim_within / 2), math.floor(s.grace / 2))
  s.bucket = s.rate and bucket_units(s.rate, s.burst) or 0
  if s.rate then s.units = had_rate and math.min(s.units, s.bucket) or s.bucket end
  set_status(s)
end
