-- The snapshot, short (rides with every answer) and full. Order is fixed: edge/core/snapshot.py reads it.
local ENDED_AT_MOST = 4096
local GONE_POINTS = 64

local function short_snapshot(s)
  return { s.epoch, text(s.clock), s.status, text(s.length), text(s.cursor), text(s.horizon), text(s.config_version),
    s.rate and text(s.rate) or '', s.max_active and text(s.max_active) or '' }
end

-- Positions that left ahead of the cursor: each `every`-th of them, so that at most GONE_POINTS ride along.
local function gone_points(s)
  call('ZREMRANGEBYSCORE', GONE, '-inf', text(s.cursor))
  local count = call('ZCARD', GONE)
  if count <= GONE_POINTS then return 1, count > 0 and call('ZRANGE', GONE, '0', '-1') or {} end
  local every = math.ceil(count / GONE_POINTS)
  local points = {}
  for rank = every - 1, count - 1, every do points[#points + 1] = call('ZRANGE', GONE, text(rank), text(rank))[1] end
  return every, points
end

local function next_token_ms(s)
  if not s.rate or s.units >= UNITS then return 0 end
  return s.rate > 0 and math.ceil((UNITS - s.units) / s.rate) or 60000
end

-- Ends of passes that were taken over stand behind TAKEN_OVER_SCORE: they have no position to ride with.
local function ended_positions()
  return table.concat(call('ZRANGEBYSCORE', ENDED, '-inf', '(' .. text(TAKEN_OVER_SCORE), 'LIMIT', '0', text(ENDED_AT_MOST)))
end

local function full_snapshot(s)
  local out = short_snapshot(s)
  local every, points = gone_points(s)
  local left = s.inventory and math.max(0, s.inventory - s.sold - s.active - s.called)
  local rest = { queueing(s), s.ready, s.called, s.active, waiting(s), text(next_token_ms(s)),
    call('ZCOUNT', CLAIMS, '(' .. text(s.clock - 60000), '+inf'), left and text(left) or '',
    ended_positions(), every, points }
  for _, value in ipairs(rest) do out[#out + 1] = value end
  return out
end
