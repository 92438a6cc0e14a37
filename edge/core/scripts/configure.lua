-- configure: offers a published configuration. Only a newer version is taken, and a value that an operator set live stays
-- until a publish changes that very field. A state that is missing begins here: as its schedule says if the caller says that the
-- queue is new, else in recovery.
-- ARGV  3 '1' if the queue is new   4 config version   then limits ('' = no limit):
--       5 rate per minute   6 burst   7 max_active   8 inventory   9 checkout ms   10 visit_max ms   11 start queueing above, per minute
--       then numbers, in the order of OTHERS   then late_claim   then the weight of each line, by commas
-- Answers: {'created'}  {'recovering'}  {'taken'}  {'kept'}: not newer
--@include engine
--@include snapshot_reply

local OTHERS = { 'manual', 'always', 'claim_within', 'idle', 'renew_every', 'settle', 'grace', 'hold', 'late_within', 'late_share',
  'prequeue_at', 'opens_at', 'closes_at', 'is_drawn', 'needs_beacon', 'spread', 'is_group', 'has_events' }
local LIMITS_FROM, OTHERS_FROM = 4, 4 + #LIMIT_FIELDS
local LINES_AT_MOST = 16

local function is_operators(s, name) return string.find(' ' .. s.operator .. ' ', ' ' .. name .. ' ', 1, true) ~= nil end

-- A line that the configuration does not have any more stays, with the smallest weight, for those who stand in it.
local function take_lines(s, weights)
  local count, known = 0, s.config_version > 0 and #s.lines or 0
  for weight in string.gmatch(weights, '%d+') do
    count = count + 1
    if count > #s.lines and count <= LINES_AT_MOST then read_more_lines(s, count) end
    local line = s.lines[count]
    -- One that is paused by itself stays so.
    if line and (count > known or not is_paused(line)) then line.weight = math.max(1, tonumber(weight)) end
  end
  for i, line in ipairs(s.lines) do
    if i > count then line.weight = 1 end
    if line.share == 0 then line.share = 1000 end
  end
end

local function take_configuration(s)
  local kept, had_rate, had_above = {}, s.rate, s.above
  for i, name in ipairs(LIMIT_FIELDS) do
    local offered, before = ARGV[LIMITS_FROM + i], call('HGET', STATE, 'config_' .. name)
    if is_operators(s, name) and offered == before then
      kept[#kept + 1] = name
    else
      s[name] = tonumber(offered)
    end
    if i <= OPERATORS_FIELDS then call('HSET', STATE, 'config_' .. name, offered) end
  end
  local opens_at = s.opens_at
  for i, name in ipairs(OTHERS) do s[name] = tonumber(ARGV[OTHERS_FROM + i]) end
  -- A queue that has opened stays open, however its schedule is moved; one that runs without a schedule has opened.
  if s.opens_at > s.clock and s.opened_at == 0 and opens_at == 0 and positions_given(s) > 0 then s.opened_at = s.clock end
  s.late_claim = ARGV[OTHERS_FROM + #OTHERS + 1]
  take_lines(s, ARGV[OTHERS_FROM + #OTHERS + 2])
  if s.above and not had_above then s.is_dormant, s.quiet_from = 1, s.clock end
  s.operator = table.concat(kept, ' ')
  s.config_version = tonumber(ARGV[4])
  apply_settings(s, had_rate)
end

local s = load_state()
local verdict
if not s then
  s = blank_state()
  s.wall = server_ms()
  s.clock, s.lease, s.places_at = s.wall, s.wall, s.wall
  count_people(s)
  take_configuration(s)
  if ARGV[3] == '1' then start_epoch(s, BEGUN_NEW, '') else start_recovery(s) end
  -- One long field makes the hash a real table: reading n fields of a packed list costs n walks.
  call('HSET', STATE, 'pad', string.rep('-', 80))
  verdict = ARGV[3] == '1' and 'created' or 'recovering'
else
  tick(s)
  verdict = 'kept'
  if tonumber(ARGV[4]) > s.config_version then
    take_configuration(s)
    verdict = 'taken'
  end
  pump(s, verdict == 'taken')
end
save_state(s)
return { { verdict }, short_snapshot(s) }
