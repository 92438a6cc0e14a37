-- Shared by every script: the keys, the arguments that all have, and the clock.
-- Everything a step touches is declared, and all keys carry one hash tag (design.md, section 5).
-- KEYS  1 state (hash)      2 places: visitor -> position (hash)   3 places of the hour before (hash)
--       4 ready: present and not called (zset, score = position)   5 seen: last sign of life (zset, score = lease ms)
--       6 called: has a lease (zset, score = lease deadline in whole ms, and a part: 0.25 when its visitor has come by, 0.5 when
--         it found no token and was told a time: then the lease begins at that time)
--       7 active: inside (zset, score = Unix ms when the slot is freed)
--       8 used: bit p = position p was admitted
--       9 left: two bits per position: turns missed; 3 = the place is given up, or, if used, the purchase was reported
--      10 gone: left while still ahead of the cursor (zset)       11 ended: ended before their expiry (zset, score = expiry)
--      12 claims: of the last minute (zset, score = Unix ms)      13 reentry: old places after a loss (zset, score = old position)
--      14 requests: answers to request ids (hash)
-- ARGV  1 explicit Unix ms, or empty for the server's own clock (an edge never gives it)   2 random hex, at least 12 digits
local STATE, PLACES, PLACES_OLD, READY, SEEN, CALLED, ACTIVE, USED, LEFT, GONE, ENDED, CLAIMS, REENTRY, REQUESTS = unpack(KEYS)
local call = redis.call

-- One admission costs this many units of the bucket; a millisecond earns `admit_per_minute` units. Integers only.
local UNITS = 60000
-- At least this long between two sweeps of one queue.
local PUMP_EVERY_MS = 250
-- A slot is freed this long after its pass expires: no edge's clock is further off.
local FREE_AFTER_MS = 5000

local function text(number) return string.format('%.0f', number) end

local function server_ms()
  local now = ARGV[1]
  if now ~= '' then return now + 0 end
  now = call('TIME')
  return now[1] * 1000 + (now[2] - now[2] % 1000) / 1000
end

-- Units that are promised to others, who were told a time that is not over yet, and before this one's if it was told one too.
-- `promised`: the last such time.
local function units_promised(lease, promised, member)
  if promised == '0' or lease >= promised + 0 then return 0 end
  local deadline = (call('ZSCORE', CALLED, member) or 0) + 0
  local due, has_promise = lease + call('HGET', STATE, 'claim_within') + 1, deadline % 1 == 0.5
  if has_promise and deadline <= due then return 0 end
  return call('ZCOUNT', CALLED, '(' .. text(due), has_promise and string.format('(%.1f', deadline) or '+inf') * UNITS
end
