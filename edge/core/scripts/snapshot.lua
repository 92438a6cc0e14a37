-- snapshot: what every waiting visitor's answer is computed from; also the queue's heartbeat.
-- ARGV  3 node, or empty   4 new visits that this node has seen within its last minute; told again they count once
--@include engine
--@include snapshot_reply

local NODES_AT_MOST = 256

-- What a node told before is replaced. Visits come with the date of their minute, so what was told late, since nobody asked for a
-- while, is no crowd of now.
local function note_visits(s)
  if ARGV[3] == '' then return end
  if call('HLEN', NODES) >= NODES_AT_MOST and call('HEXISTS', NODES, ARGV[3]) == 0 then return end
  call('HSET', NODES, ARGV[3], ARGV[4] .. ' ' .. text(s.clock))
end

local s = load_state()
if not s then return { { 'missing' }, {} } end
tick(s)
note_visits(s)
pump(s)
local snapshot = full_snapshot(s)
save_state(s)
return { { 'ok' }, snapshot }
