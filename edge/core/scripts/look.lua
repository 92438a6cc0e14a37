-- look: snapshot and touch in one, for the one who asks where nobody else's snapshot can be at hand.
-- ARGV  3 node, or empty   4 its new visits, as snapshot   5 epoch   6 place   7 visitor   8 '1' if the visitor wants in now
-- Answers as touch, with the full snapshot.
--@include engine
--@include snapshot_reply
--@include nodes
--@include sign

local s = load_state()
if not s then return { { 'missing' }, {} } end
tick(s)
note_visits(s, ARGV[3], ARGV[4])
pump(s)
local verdict = { 'epoch' }
if s.epoch == ARGV[5] then verdict = show_sign(s, ARGV[6], ARGV[7], ARGV[8] == '1') end
local snapshot = full_snapshot(s)
save_state(s)
return { verdict, snapshot }
