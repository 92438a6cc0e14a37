-- snapshot: what every waiting visitor's answer is computed from; also the queue's heartbeat.
--@include head
--@include state
--@include pump
--@include snapshot_reply

local s = load_state()
if not s then return { { 'missing' }, {} } end
tick(s)
pump(s)
local snapshot = full_snapshot(s)
save_state(s)
return { { 'ok' }, snapshot }
