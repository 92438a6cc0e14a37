-- checkout: the payment begins. Its time replaces the idle time; the site may ask for it once more.
-- ARGV  3 epoch   4 place, 0 for a pass that was taken over   5 visitor   6 start or extend
-- Answers: {'checkout', ends at, expires at, renew at}   {'refused', why}: no_checkout, not_started, extended
--          {'ended'}: not inside   {'epoch'}   {'missing'}
--@include engine
--@include visit
--@include place
--@include snapshot_reply

local s = load_state()
if not s then return { { 'missing' }, {} } end
tick(s)
pump(s)
local line, position = read_token(s, ARGV[4])
local is_of_epoch = ARGV[3] == s.epoch
local member = is_of_epoch and position > 0 and member_of(line, position) or 'v' .. ARGV[5]

-- A time that was extended ends in .5: it is not extended again.
local function ends_at(running)
  if ARGV[6] == 'start' then return running or s.clock + s.checkout end
  return s.clock + s.checkout + 0.5
end

local function begin()
  if not s.checkout then return { 'refused', 'no_checkout' } end
  local _, running = hard_end(s, member)
  if ARGV[6] == 'extend' and not running then return { 'refused', 'not_started' } end
  if ARGV[6] == 'extend' and running % 1 > 0 then return { 'refused', 'extended' } end
  local ends = ends_at(running)
  call('HSET', VISITS, 'c' .. member, string.format('%.1f', ends))
  if not running then emit(s, 'checkout', member) end
  local inside = let_in(s, member)
  return { 'checkout', text(math.floor(ends)), inside[3], inside[4] }
end

local deadline = call('ZSCORE', ACTIVE, member)
local verdict
if not is_of_epoch and not is_lost_epoch(s, ARGV[3]) then verdict = { 'epoch' }
elseif not deadline or tonumber(deadline) - FREE_AFTER_MS <= s.clock then verdict = { 'ended' }
else verdict = begin() end
save_state(s)
return { verdict, short_snapshot(s, line) }
