-- The snapshot, short (rides with every answer, with the numbers of one line) and full. Order is fixed: edge/core/snapshot.py reads it.
local ENDED_AT_MOST = 4096
local GONE_POINTS = 64

local function shown(value) return value and text(value) or '' end

local function short_snapshot(s, line)
  line = line or s.lines[1]
  return { s.epoch, text(s.clock), s.status, text(line.length), text(line.cursor), text(line.horizon), text(s.config_version),
    shown(s.rate), shown(s.max_active) }
end

-- Positions of a line that left ahead of the cursor: each `every`-th of them, so that at most GONE_POINTS ride along.
local function gone_points(line)
  local from, to = text(line.base + line.cursor + 1), '(' .. text(line.base + LINE)
  local count = call('ZCOUNT', GONE, from, to)
  if count == 0 then return 1, {} end
  local every, points = math.ceil(count / GONE_POINTS), {}
  for nth = every - 1, count - 1, every do
    local found = call('ZRANGEBYSCORE', GONE, from, to, 'LIMIT', text(nth), every == 1 and '-1' or '1')
    for _, member in ipairs(found) do
      local _, position = read_member(member)
      points[#points + 1] = text(position)
    end
    if every == 1 then break end
  end
  return every, points
end

local function next_token_ms(s)
  if not s.pace or s.units >= UNITS then return 0 end
  return s.pace > 0 and math.ceil((UNITS - s.units) / s.pace) or 60000
end

-- Ends of passes that were taken over stand behind TAKEN_OVER_SCORE: they have no position to ride with. When there are too many,
-- those that would have lasted longest ride: of the others fewest copies are still in use.
local function ended_places()
  return table.concat(call('ZREVRANGEBYSCORE', ENDED, '(' .. text(TAKEN_OVER_SCORE), '-inf', 'LIMIT', '0', text(ENDED_AT_MOST)))
end

-- Of each line beyond the first: length, cursor, horizon, drawn, weight, present in the window, gone_every, gone points by commas.
local function more_lines(s)
  local lines = {}
  for i = 2, #s.lines do
    local line = s.lines[i]
    local every, points = gone_points(line)
    lines[#lines + 1] = { text(line.length), text(line.cursor), text(line.horizon), text(line.drawn), text(line.weight),
      present_in(s, line), every, table.concat(points, ',') }
  end
  return lines
end

-- How many places a minute each line gives, in thousandths, by commas; '' of a single one: nobody comes in between there.
local function arriving(s)
  if #s.lines == 1 then return '' end
  local each = {}
  for i, line in ipairs(s.lines) do each[i] = text(line.arriving) end
  return table.concat(each, ',')
end

local function full_snapshot(s)
  local out, first = short_snapshot(s), s.lines[1]
  local every, points = gone_points(first)
  local left = s.inventory and math.max(0, s.inventory - s.sold - s.active - s.called)
  local outflow = outflow_expected(s)
  local rest = { queueing(s), s.ready, s.called, s.active, waiting(s), text(next_token_ms(s)),
    call('ZCOUNT', CLAIMS, '(' .. text(s.clock - 60000), '+inf'), shown(left), ended_places(), every, points,
    s.mode, text(s.opens_at), text(s.closes_at), text(s.opened_at), text(first.drawn), s.draw_key, s.draw_seed, s.beacon, s.chain,
    outflow, text(s.present), text(s.sample_every), text(first.weight), present_in(s, first), text(s.is_dormant),
    call('HGET', STATE, 'message') or '', more_lines(s), text(s.coming), text(unseen_ms(s, outflow ~= '' and outflow / 1000 or 0)),
    arriving(s), shown(ending(s)) }
  for _, value in ipairs(rest) do out[#out + 1] = value end
  return out
end
