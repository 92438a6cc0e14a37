-- Shared by every script: the keys, the arguments that all have, the names of places, and the clock.
-- Everything a step touches is declared, and all keys carry one hash tag (design.md, section 5).
-- A place is named by its member: '57' is position 57 of line 0, '2:57' position 57 of line 2.
-- KEYS  1 state (hash)      2 places: visitor -> member (hash)   3 places of the hour before (hash)
--       4 ready: present and not called (zset, score = line * LINE + position)   5 seen: last sign of life (zset, score = lease ms)
--       6 called: has a lease (zset, score = lease deadline in whole ms, and a part: 0.25 when its visitor has come by, 0.5 when
--         it found no token and was told a time: then the lease begins at that time)
--       7 active: inside (zset, score = Unix ms when the slot is freed)
--       8 used: bit per seat = was admitted
--       9 left: four bits per seat: turns missed, from PLACE_LAPSED on the place has lapsed; PLACE_OVER = given up, or, if used,
--         the purchase was reported
--      10 gone: left while still ahead of the cursor (zset, score as ready)   11 ended: before their expiry (zset, score = expiry)
--      12 claims: of the last minute (zset, score = Unix ms)      13 reentry: old places after a loss (zset, score = old place)
--      14 requests: answers to request ids (hash)
--      15 visits: 'h' member = hard end of the visit, 'c' member = end of its checkout, 'o' member = called over the rate (hash)
--      16 passed: which position the cursor had passed when (zset, score as ready, member 'line:position:lease ms')
--      17 invites: invitation -> visitor who used it (hash)   18 nodes: node -> new visits of its last minute, and when it said so (hash)
--      19 sample: far back and seen lately (zset, score = lease ms; negative: closed the page then)   20 events (stream)
--      21 holders: a key that the site vouched for -> count and member of its last place (hash); see holder.lua
--      22 joins: when places were taken (zset, score as ready)   23 figures: counts of waits (hash); both as figures.lua says
-- ARGV  1 explicit Unix ms, or empty for the server's own clock (an edge never gives it)   2 random hex, at least 12 digits
local STATE, PLACES, PLACES_OLD, READY, SEEN, CALLED, ACTIVE, USED, LEFT, GONE, ENDED, CLAIMS, REENTRY, REQUESTS, VISITS, PASSED,
  INVITES, NODES, SAMPLE, EVENTS, HOLDERS, JOINS, FIGURES = unpack(KEYS)
local call = redis.call

-- One admission costs this many units of the bucket; a millisecond earns `admit_per_minute` units. Integers only.
local UNITS = 60000
-- At least this long between two sweeps of one queue.
local PUMP_EVERY_MS = 250
-- A slot is freed this long after its pass expires: no edge's clock is further off.
local FREE_AFTER_MS = 5000
-- Between the scores of two lines; no line has this many positions.
local LINE = 2 ^ 40
local EVENTS_KEPT = '10000'

local function text(number) return string.format('%.0f', number) end

-- The bits of a place: line 0 has the even seats, all others share the odd ones.
local function seat_of(line, position)
  return line == 0 and text(position * 2) or text((position * 16 + line) * 2 + 1)
end

-- Line and position of a member; the suffix of its line's fields in the state.
local function read_member(member)
  local line, position = string.match(member, '^(%d+):(%d+)$')
  if not line then return 0, member + 0, '' end
  return line + 0, position + 0, line == '0' and '' or line
end

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

local function add_events(now, what) call('XADD', EVENTS, 'MAXLEN', '~', EVENTS_KEPT, '*', 'at', text(now), 'what', what) end
