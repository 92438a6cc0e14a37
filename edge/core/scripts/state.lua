-- The state as a table, and how it is written back. Only fields that changed are written.
local TEXT_FIELDS = { 'epoch', 'status', 'mode', 'killed', 'operator', 'draw_key', 'draw_seed', 'beacon', 'chain', 'late_claim' }
local NUMBER_FIELDS = {
  'clock', 'wall_ahead', 'lease_behind', 'units', 'pump_at', 'hold_until', 'promised', 'latency', 'sold', 'recover_until', 'reentry_until',
  'begun_by', 'places_at', 'ttl_at', 'pruned_at', 'config_version', 'max_step', 'max_lease_step', 'short_until',
  'claim_within', 'idle', 'renew_every', 'settle', 'grace', 'hold', 'manual', 'always', 'bucket',
  'late_within', 'late_share', 'prequeue_at', 'opens_at', 'closes_at', 'opened_at', 'opened_lease', 'is_drawn', 'is_counted', 'needs_beacon', 'spread',
  'is_group', 'has_events', 'line_count', 'over_rate', 'sample_every', 'sample_from', 'present', 'outflow', 'outflow_known', 'rate_used', 'held_by', 'active_from',
  'slots_hold', 'ends_seen', 'slots_seen', 'ready_from', 'coming', 'is_dormant', 'quiet_from',
  'overrun', 'lapsed', 'checkout_expired', 'pass_expired', 'idle_expired',
  'turns', 'admitted', 'counted_until', 'left', 'missed', 'completed', 'revoked', 'expired', 'undelivered',
}
-- Limits may be unset: then they are nil here and '' in the hash. Operators change the first four.
local LIMIT_FIELDS = { 'rate', 'burst', 'max_active', 'inventory', 'checkout', 'visit_max', 'above' }
local OPERATORS_FIELDS = 4
-- Of each line; those of line 0 stand without a number, those of line 2 as `length2`.
local LINE_FIELDS = {
  'length', 'cursor', 'horizon', 'settled', 'raised_at', 'raise_step', 'share', 'late_credit', 'drawn', 'pass', 'held', 'weight', 'passed_at',
  'mapped_from', 'rotated', 'noted', 'noted_at', 'note_at', 'arriving',
  'raises', -- the one that is text (window.lua)
}
local ALL_FIELDS = {}
for _, list in ipairs({ TEXT_FIELDS, NUMBER_FIELDS, LIMIT_FIELDS, LINE_FIELDS }) do
  for _, name in ipairs(list) do ALL_FIELDS[#ALL_FIELDS + 1] = name end
end

local function read_line(index, values, from)
  local line = { index = index, suffix = index == 0 and '' or text(index), base = index * LINE, old = {} }
  for i, name in ipairs(LINE_FIELDS) do
    line.old[name] = values[from + i]
    line[name] = name == 'raises' and (values[from + i] or '') or tonumber(values[from + i] or 0) or 0
  end
  return line
end

-- Lines beyond the first, `count` in all; a new one starts empty.
local function read_more_lines(s, count)
  local known, names = #s.lines, {}
  for index = known, count - 1 do
    for _, name in ipairs(LINE_FIELDS) do names[#names + 1] = name .. text(index) end
  end
  if #names == 0 then return end
  local values = call('HMGET', STATE, unpack(names))
  for index = known, count - 1 do s.lines[index + 1] = read_line(index, values, (index - known) * #LINE_FIELDS) end
end

local function load_state()
  local values = call('HMGET', STATE, unpack(ALL_FIELDS))
  if not values[1] then return nil end
  local s, old = { events = {} }, {}
  local numbers_from, limits_from = #TEXT_FIELDS, #TEXT_FIELDS + #NUMBER_FIELDS
  for i, name in ipairs(ALL_FIELDS) do
    local raw = values[i]
    if i > limits_from + #LIMIT_FIELDS then break end
    old[name] = raw
    if i <= numbers_from then s[name] = raw or ''
    elseif i <= limits_from then s[name] = tonumber(raw or 0) or 0
    else s[name] = tonumber(raw or '') end
  end
  s.lines = { read_line(0, values, limits_from + #LIMIT_FIELDS) }
  if s.line_count > 1 then read_more_lines(s, s.line_count) end
  s.old, s.wall, s.lease = old, s.clock + s.wall_ahead, s.clock - s.lease_behind
  return s
end

local function blank_state()
  local s = { events = {}, old = {} }
  for _, name in ipairs(TEXT_FIELDS) do s[name] = '' end
  for _, name in ipairs(NUMBER_FIELDS) do s[name] = 0 end
  s.lines, s.mode = { read_line(0, {}, 0) }, 'open'
  return s
end

local function note_changes(changed, values, old, names, suffix)
  for _, name in ipairs(names) do
    local value = values[name]
    local raw = value == nil and '' or (type(value) == 'number' and text(value) or value)
    if raw ~= old[name] then
      changed[#changed + 1] = name .. suffix
      changed[#changed + 1] = raw
      old[name] = raw
    end
  end
end

local function emit(s, what, member)
  if s.has_events == 1 then s.events[#s.events + 1] = what .. ' ' .. member end
end

local function save_state(s)
  local changed = {}
  s.wall_ahead, s.lease_behind, s.line_count = s.wall - s.clock, s.clock - s.lease, #s.lines
  -- Until then, between two sweeps and with the clocks in agreement, join and touch may take their short ways.
  s.short_until = s.status == 'open' and s.wall == s.clock and s.pump_at or 0
  note_changes(changed, s, s.old, TEXT_FIELDS, '')
  note_changes(changed, s, s.old, NUMBER_FIELDS, '')
  note_changes(changed, s, s.old, LIMIT_FIELDS, '')
  for _, line in ipairs(s.lines) do note_changes(changed, line, line.old, LINE_FIELDS, line.suffix) end
  if #changed > 0 then call('HSET', STATE, unpack(changed)) end
  for first = 1, #s.events, 50 do
    add_events(s.clock, table.concat(s.events, '\n', first, math.min(#s.events, first + 49)))
  end
  s.events = {}
end

-- The line of a member, its position there, and its seat. A line that the queue does not have counts as the first.
local function find_line(s, member)
  local index, position = read_member(member)
  local line = s.lines[index + 1] or s.lines[1]
  return line, position
end

local function member_of(line, position)
  if line.index == 0 then return text(position) end
  return line.suffix .. ':' .. text(position)
end

local function seat(member) return seat_of(read_member(member)) end

-- Four bits count the turns that a place has missed; the third one that it lets go ends it.
local PLACE_LAPSED, PLACE_OVER = 3, 8
local function missed_turns(member) return call('BITFIELD', LEFT, 'GET', 'u4', '#' .. seat(member))[1] end
local function is_over(member) return missed_turns(member) >= PLACE_LAPSED end

local function mark(member, value)
  return call('BITFIELD', LEFT, 'SET', 'u4', '#' .. seat(member), text(value))[1]
end

local function was_used(member) return call('GETBIT', USED, seat(member)) == 1 end

local function count_people(s)
  s.ready, s.called, s.active = call('ZCARD', READY), call('ZCARD', CALLED), call('ZCARD', ACTIVE)
  if s.called + s.active == 0 then
    for _, line in ipairs(s.lines) do line.held = 0 end
  end
end

local function positions_given(s)
  local sum = 0
  for _, line in ipairs(s.lines) do sum = sum + line.length end
  return sum
end
