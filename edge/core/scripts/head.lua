-- Shared by every script: the keys, the arguments that all have, and the clock.
-- Everything a step touches is declared, and all keys carry one hash tag (design.md, section 5).
-- KEYS  1 state (hash)      2 places: visitor -> position (hash)   3 places of the hour before (hash)
--       4 ready: present and not called (zset, score = position)   5 seen: last sign of life (zset, score = lease ms)
--       6 called: has a lease (zset, score = lease deadline)       7 active: inside (zset, score = Unix ms when the slot is freed)
--       8 used: bit p = position p was admitted                    9 left: bit p = position p gave up its place
--      10 gone: left while still ahead of the cursor (zset)       11 ended: ended before their expiry (zset, score = expiry)
--      12 claims: of the last minute (zset, score = Unix ms)      13 reentry: old places after a loss (zset, score = old position)
--      14 requests: answers to request ids (hash)
-- ARGV  1 explicit Unix ms, or empty for the server's own clock (an edge never gives it)   2 random hex, at least 12 digits
local STATE, PLACES, PLACES_OLD, READY, SEEN, CALLED, ACTIVE = KEYS[1], KEYS[2], KEYS[3], KEYS[4], KEYS[5], KEYS[6], KEYS[7]
local USED, LEFT, GONE, ENDED, CLAIMS, REENTRY, REQUESTS = KEYS[8], KEYS[9], KEYS[10], KEYS[11], KEYS[12], KEYS[13], KEYS[14]
local call = redis.call

-- One admission costs this many units of the bucket; a millisecond earns `admit_per_minute` units. Integers only.
local UNITS = 60000
-- The longest stretch that one look at the clock may move time while people are here: longer than a hidden tab's poll (60 s).
local MAX_STEP_MS = 75000
-- At least this long between two sweeps of one queue.
local PUMP_EVERY_MS = 250

local function text(number) return string.format('%.0f', number) end

local function server_ms()
  if ARGV[1] ~= '' then return tonumber(ARGV[1]) end
  local t = call('TIME')
  return tonumber(t[1]) * 1000 + math.floor(tonumber(t[2]) / 1000)
end

-- How far time moves when the server's clock goes from `wall` to `wall_now`: never back, by a bounded step while people are
-- here, and a tenth faster or slower until it agrees with the server again. Returns the step and the milliseconds that
-- earn rate, which never exceed either clock.
local function clock_step(wall_now, wall, clock, people)
  local passed = math.max(0, wall_now - wall)
  local step = people and math.min(passed, MAX_STEP_MS) or passed
  local behind = wall_now - (clock + step)
  if behind > 0 then
    step = step + (people and math.min(behind, math.floor(step / 10)) or behind)
  elseif behind < 0 then
    step = step - math.min(-behind, math.floor(step / 10))
  end
  return step, math.min(passed, step)
end
