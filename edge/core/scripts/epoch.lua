-- Generations: how one begins, and which tokens of older ones still mean something.

local function base36(number)
  local digits, out = '0123456789abcdefghijklmnopqrstuvwxyz', ''
  repeat
    local digit = number % 36
    out = string.sub(digits, digit + 1, digit + 1) .. out
    number = (number - digit) / 36
  until number == 0
  return out
end

-- Microseconds of the server's clock and 24 random bits: no two generations share a name, not even after a flush.
local function new_epoch(wall_now)
  local micros = wall_now * 1000
  if ARGV[1] == '' then
    local t = call('TIME')
    micros = tonumber(t[1]) * 1000000 + tonumber(t[2])
  end
  return base36(micros) .. string.sub(ARGV[2], 1, 6)
end

local function is_killed(s, epoch)
  return string.find(' ' .. s.killed .. ' ', ' ' .. epoch .. ' ', 1, true) ~= nil
end

-- How a generation began: by an operator's reset (tokens of older ones are strangers), by a loss, or as the first.
local BEGUN_BY_RESET, BEGUN_BY_LOSS, BEGUN_NEW = 0, 1, 2
local KEPT_KILLED = 32

-- Whether tokens of another generation were lost with the state, and not killed by a reset: they may come back.
local function is_lost_epoch(s, epoch)
  return s.begun_by ~= BEGUN_BY_RESET and epoch ~= s.epoch and not is_killed(s, epoch)
end

-- Whether a token of this generation shows that the state was set back to before it began. Once the loss is known, older
-- names are expected, whatever the clocks said when they were made.
local function is_from_ahead(s, epoch)
  if s.begun_by == BEGUN_BY_LOSS or epoch == s.epoch or is_killed(s, epoch) then return false end
  return #epoch > #s.epoch or (#epoch == #s.epoch and epoch > s.epoch)
end

-- A new generation: nothing of the old one is left but the limits, the clock, the operator's mode, what the bucket holds and the
-- names of the generations that were reset last. `killed`: the name of the one that an operator ends now, or ''.
local function start_epoch(s, begun_by, killed)
  call('UNLINK', PLACES, PLACES_OLD, READY, SEEN, CALLED, ACTIVE, USED, LEFT, GONE, ENDED, CLAIMS, REENTRY, VISITS, PASSED, INVITES,
    SAMPLE, HOLDERS, JOINS, FIGURES)
  if killed ~= '' then
    local names = { killed }
    for name in string.gmatch(s.killed, '%S+') do
      if #names < KEPT_KILLED then names[#names + 1] = name end
    end
    s.killed = table.concat(names, ' ')
  end
  s.epoch = new_epoch(s.wall)
  for _, line in ipairs(s.lines) do
    for _, name in ipairs(LINE_FIELDS) do
      if name ~= 'weight' then line[name] = 0 end
    end
    line.share, line.raises = 1000, ''
  end
  for _, name in ipairs({ 'pump_at', 'hold_until', 'promised', 'sold', 'recover_until', 'reentry_until',
    'opened_at', 'opened_lease', 'is_counted', 'over_rate', 'sample_every', 'sample_from', 'outflow', 'outflow_known', 'rate_used', 'held_by', 'active_from', 'slots_hold',
    'ends_seen', 'slots_seen', 'ready_from', 'overrun', 'turns', 'admitted', 'left', 'missed', 'lapsed',
    'completed', 'revoked', 'expired', 'undelivered', 'checkout_expired', 'pass_expired', 'idle_expired' }) do
    s[name] = 0
  end
  s.draw_key, s.draw_seed, s.beacon, s.chain = '', '', '', ''
  s.present, s.coming, s.latency, s.begun_by = 1000, 1000000, 5000, begun_by
  count_people(s)
  set_status(s)
  emit(s, 'epoch', s.epoch)
end

-- Redis lost the state, or was set back behind a token that we signed: nobody is admitted until every pass that may exist has
-- run out or has been taken over, and old places come back in their old order. A pause stays one.
local function start_recovery(s)
  start_epoch(s, BEGUN_BY_LOSS, '')
  s.units = 0
  -- A clock that was set back too is behind the passes that it must outlast.
  s.clock = math.max(s.clock, s.wall)
  s.reentry_until = s.clock + s.settle
  s.recover_until = s.clock + math.max(s.idle + FREE_AFTER_MS, s.settle)
  -- An order that was drawn is not drawn again: old places come back in it.
  if s.opens_at > 0 and s.clock >= s.opens_at then s.opened_at, s.opened_lease = s.clock, s.lease end
  set_status(s)
end
