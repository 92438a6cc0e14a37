-- What nodes tell of those who come: together they are a crowd, or none.
local NODES_AT_MOST = 256

-- What a node told before is replaced. Visits come with the date of their minute, so what was told late, since nobody asked for a
-- while, is no crowd of now.
local function note_visits(s, node, visits)
  if node == '' then return end
  if call('HLEN', NODES) >= NODES_AT_MOST and call('HEXISTS', NODES, node) == 0 then return end
  call('HSET', NODES, node, visits .. ' ' .. text(s.clock))
end
