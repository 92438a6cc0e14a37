-- touch: a sign of life from a place, and the claim when its turn has come.
-- ARGV  3 epoch   4 place ('57', '1:57', or with an 'a' before it the number of arrival)   5 visitor
--       6 '1' if the visitor wants in now
-- Answers as visit.lua, or: {'epoch'}: the place is of another epoch: join with it   {'recovering', retry ms}   {'missing'}
--@include head

local epoch, member = ARGV[3], ARGV[4]
local at = string.match(member, '^(%d+):') or ''
local f = call('HMGET', STATE, 'epoch', 'clock', 'status', 'length' .. at, 'cursor' .. at, 'horizon' .. at, 'config_version', 'rate',
  'max_active', 'short_until', 'lease_behind', 'units', 'bucket', 'idle', 'renew_every', 'promised', 'visit_max', 'has_events', 'is_dormant',
  'settled' .. at, 'sample_every')
if not f[1] then return { { 'missing' }, {} } end
if f[1] ~= epoch then return { { 'epoch' }, { unpack(f, 1, 9) } } end

-- A place is where its visitor left it, and nobody has said anything else of it.
local function is_at_home()
  return call('HGET', PLACES, ARGV[5]) == member or call('HGET', PLACES_OLD, ARGV[5]) == member
end

-- Still waiting, in the window or in the sample behind it: a sign of life, and nothing that could call anybody now.
local function shows_life(line, position, now)
  if call('BITFIELD', LEFT, 'GET', 'u4', '#' .. seat_of(line, position))[1] ~= 0 or not is_at_home() then return false end
  local every, lease = f[21] + 0, now - f[11]
  if position > f[6] + 0 then
    if every > 0 and position % every == 0 then call('ZADD', SAMPLE, lease, member) end
    return true
  end
  if position > f[20] + 0 then
    call('ZADD', READY, text(line * LINE + position), member)
  elseif not call('ZSCORE', READY, member) then
    -- Who is there for the first time, and was given the time to say so, may be the next to be called.
    return false
  end
  call('ZADD', SEEN, lease, member)
  if every > 0 then call('ZREM', SAMPLE, member) end
  return true
end

-- A called visitor claims, with a token at hand.
local function comes_in(line, position, now)
  local units, is_free = f[12], true
  if f[8] ~= '' then
    local full = f[13] + 0
    units = units + f[8] * (now - f[2])
    if units > full then units = full end
    units = units - UNITS
    is_free = units >= 0 and units >= units_promised(now - f[11], f[16], member)
  end
  if not is_free or not is_at_home() or call('ZREM', CALLED, member) ~= 1 then return nil end
  local expires = now + f[14]
  call('ZADD', ACTIVE, expires + FREE_AFTER_MS, member)
  call('SETBIT', USED, seat_of(line, position), '1')
  call('ZADD', CLAIMS, now, member)
  call('HSET', STATE, 'clock', now, 'units', units)
  if f[18] == '1' then add_events(now, 'admitted ' .. member) end
  return { 'inside', member, expires, now + f[15] }
end

-- Between two sweeps: what visit.lua does, without the rest of the state.
if f[10] ~= '0' and string.sub(member, 1, 1) ~= 'a' and f[5] then
  local line, position = read_member(member)
  local now, verdict = server_ms(), nil
  if now - f[2] >= 0 and now < f[10] + 0 then
    if position > f[5] + 0 then
      verdict = shows_life(line, position, now) and { 'waiting', member }
    elseif ARGV[6] == '1' and f[19] == '0' and f[17] == '' then
      verdict = comes_in(line, position, now)
    end
  end
  if verdict then return { verdict, { f[1], now, f[3], f[4], f[5], f[6], f[7], f[8], f[9] } } end
end
--@include rest
--@include sign
--@include snapshot_reply

local s = load_state()
tick(s)
local verdict, line = show_sign(s, member, ARGV[5], ARGV[6] == '1')
save_state(s)
return { verdict, short_snapshot(s, line) }
