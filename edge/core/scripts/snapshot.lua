-- snapshot: what every waiting visitor's answer is computed from; also the queue's heartbeat.
-- ARGV  3 node, or empty   4 new visits that this node has seen within its last minute; told again they count once
--@include engine
--@include snapshot_reply
--@include nodes

local s = load_state()
if not s then return { { 'missing' }, {} } end
tick(s)
note_visits(s, ARGV[3], ARGV[4])
pump(s)
local snapshot = full_snapshot(s)
save_state(s)
return { { 'ok' }, snapshot }
