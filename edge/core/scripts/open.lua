-- open: the order of those who came before the opening is drawn; done once, by whoever comes first when it is due.
-- ARGV  3 epoch   4 seed, hex   5 key of the permutation, hex   6 opening time that the seed is for, Unix ms   7 beacon mixed in, or empty
-- Answers: {'opened', how many came}   {'kept'}: opened before, or not due by these values   {'missing'}
--@include engine
--@include snapshot_reply

local s = load_state()
if not s then return { { 'missing' }, {} } end
tick(s)
local is_due = is_before_opening(s) and s.is_drawn == 1 and s.clock >= s.opens_at and s.recover_until == 0
local fits = s.epoch == ARGV[3] and s.opens_at == tonumber(ARGV[6]) and s.beacon == ARGV[7]
local verdict = { 'kept' }
if is_due and fits and (s.needs_beacon == 0 or s.beacon ~= '') then
  s.draw_seed, s.draw_key = ARGV[4], ARGV[5]
  close_draw(s)
  -- Numbers of arrival are no places.
  call('UNLINK', GONE)
  open_doors(s)
  set_status(s)
  verdict = { 'opened', text(positions_given(s)) }
end
pump(s, verdict[1] == 'opened')
save_state(s)
return { verdict, short_snapshot(s) }
