--@include holder
-- Places: a new one, the one that a visitor has, and those of before a loss.
local GIVEN_UP = 'x'

-- A new position. While everybody before it has been asked already and the window has room, it is born inside the window:
-- the arrival itself is the sign of life, so a short queue never waits for anyone to settle.
local function new_place(s, line, visitor)
  line.length = line.length + 1
  local position = line.length
  local member = member_of(line, position)
  call('HSET', PLACES, visitor, member)
  hold(visitor, member)
  if is_before_opening(s) then
    -- With the hash the whole chain of arrivals can be recomputed from the events.
    emit(s, 'arrived', member .. ' ' .. redis.sha1hex(visitor))
    if s.is_counted == 0 then chain_arrival(s, line, position, visitor) end
    return position
  end
  emit(s, 'joined', member)
  if line.horizon == position - 1 and ready_of(s, line) < wanted(s, line) then
    line.horizon = position
    if line.settled == position - 1 then line.settled = position end
  end
  return position
end

-- Of a visitor who came back after a loss, once the old order is complete: how many of the line came back before.
local function reentered(s, visitor)
  local score = s.reentry_until == 0 and call('ZSCORE', REENTRY, visitor)
  if not score then return nil, 0 end
  local line = s.lines[math.floor(score / LINE) + 1] or s.lines[1]
  local before = line.index > 0 and call('ZCOUNT', REENTRY, '-inf', '(' .. text(line.base)) or 0
  return line, call('ZRANK', REENTRY, visitor) - before + 1
end

-- The line and the place of a visitor, as the map has them: place 0 if there is none; `GIVEN_UP` as the third value.
-- Who came back after a loss is in the map with position 0 until the old order is complete.
local function known_place(s, visitor)
  local found = call('HGET', PLACES, visitor) or call('HGET', PLACES_OLD, visitor) or held_member(visitor)
  if not found or found == TAKEN_OVER then return nil, 0 end
  if found == GIVEN_UP then return nil, 0, GIVEN_UP end
  local line, number = find_line(s, found)
  if number > 0 then return line, place_of(s, line, number) end
  local old_line, position = reentered(s, visitor)
  return old_line or line, position
end

local function come_back(line, visitor, old_position)
  -- Of the places that a key had, one comes back.
  if holder_of(visitor) ~= visitor then return end
  call('ZADD', REENTRY, 'NX', text(line.base + old_position), visitor)
  if call('HSETNX', PLACES, visitor, line.index .. ':0') == 1 then hold(visitor, line.index .. ':0') end
end

-- The line and the place that a token names: 'a57' and 'a1:57' are numbers of arrival from before the opening.
local function read_token(s, token)
  if string.sub(token, 1, 1) ~= 'a' then return find_line(s, token) end
  local line, number = find_line(s, string.sub(token, 2))
  return line, place_of(s, line, number)
end

-- Whether the state has never given this place, which our signature says it did: it was set back. Its number may have been
-- given again meanwhile.
local function was_set_back(s, line, position, visitor)
  if position > line.length then return true end
  if position <= line.mapped_from then return false end
  local _, known, given_up = known_place(s, visitor)
  return known ~= position and given_up ~= GIVEN_UP
end
