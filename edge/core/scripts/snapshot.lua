-- snapshot: what every waiting visitor's answer is computed from; also the queue's heartbeat.
-- ARGV  3 node, or empty   4 new visits that this node has seen since it began; told again they count once
--@include engine
--@include snapshot_reply

local NODES_AT_MOST = 256

-- A node's count only grows, so a repeated or a lost report changes nothing; a node that begins anew has another name.
local function note_visits(s)
  if ARGV[3] == '' then return end
  local before = call('HGET', NODES, ARGV[3])
  if not before and call('HLEN', NODES) >= NODES_AT_MOST then call('UNLINK', NODES) end
  call('HSET', NODES, ARGV[3], ARGV[4])
  visits_per_minute(s)
  if before then s.visits_now = s.visits_now + math.max(0, ARGV[4] - before) end
end

local s = load_state()
if not s then return { { 'missing' }, {} } end
tick(s)
note_visits(s)
pump(s)
local snapshot = full_snapshot(s)
save_state(s)
return { { 'ok' }, snapshot }
