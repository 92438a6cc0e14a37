-- configure: offers a published configuration. Only a newer version is taken, and a value that an operator set live stays
-- until a publish changes that very field. A state that is missing begins here: open if the caller says that the queue is
-- new, else in recovery.
-- ARGV  3 '1' if the queue is new   4 config version   then, in this order ('' = no limit):
--       5 rate per minute   6 burst   7 max_active   8 inventory   9 manual   10 always
--       11 claim_within ms   12 idle ms   13 renew_every ms   14 settle ms   15 grace ms   16 hold ms
-- Answers: {'created'}  {'recovering'}  {'taken'}  {'kept'}: not newer
--@include head
--@include state
--@include pump
--@include snapshot_reply

local OTHERS = { 'manual', 'always', 'claim_within', 'idle', 'renew_every', 'settle', 'grace', 'hold' }

local function is_operators(s, name) return string.find(' ' .. s.operator .. ' ', ' ' .. name .. ' ', 1, true) ~= nil end

local function take(s)
  local kept = {}
  local had_rate = s.rate
  for i, name in ipairs(LIMIT_FIELDS) do
    local offered, before = ARGV[4 + i], call('HGET', STATE, 'config_' .. name)
    if is_operators(s, name) and offered == before then
      kept[#kept + 1] = name
    else
      s[name] = tonumber(offered)
    end
    call('HSET', STATE, 'config_' .. name, offered)
  end
  for i, name in ipairs(OTHERS) do s[name] = tonumber(ARGV[8 + i]) end
  s.operator = table.concat(kept, ' ')
  s.config_version = tonumber(ARGV[4])
  apply_settings(s, had_rate)
end

local s = load_state()
local verdict
if not s then
  s = { old = {}, killed = '', operator = '', status = '', epoch = '' }
  for _, name in ipairs(NUMBER_FIELDS) do s[name] = 0 end
  s.wall = server_ms()
  s.clock, s.lease, s.places_at = s.wall, s.wall, s.wall
  take(s)
  if ARGV[3] == '1' then start_epoch(s, 'open', BEGUN_NEW, '') else start_recovery(s) end
  -- One long field makes the hash a real table: reading n fields of a packed list costs n walks.
  call('HSET', STATE, 'pad', string.rep('-', 80))
  verdict = ARGV[3] == '1' and 'created' or 'recovering'
else
  tick(s)
  verdict = 'kept'
  if tonumber(ARGV[4]) > s.config_version then
    take(s)
    verdict = 'taken'
  end
  pump(s, verdict == 'taken')
end
save_state(s)
return { { verdict }, short_snapshot(s) }
