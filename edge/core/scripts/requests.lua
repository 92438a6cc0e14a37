-- Answers to request ids, so that a repeated call changes nothing: each for an hour at least, at most REQUESTS_AT_MOST in all.
-- When that many came within the hour, new ones are refused (`busy`) rather than old ones forgotten.
local REQUESTS_AT_MOST = 5000
local KEEP_REQUESTS_MS = 3600000
local PRUNE_EVERY_MS = 600000

-- An id may end in '.' and a print of what is asked: the same id with another print is another request.
local function read_id(request_id) return string.match(request_id, '^([^.]*)%.?(.*)$') end

-- The first answer to this id, or nil; and whether something else was asked then.
local function recall(request_id)
  local id, print = read_id(request_id)
  local found = call('HGET', REQUESTS, id)
  if not found then return nil, false end
  local asked, answer = string.match(found, '^%d+%.?(%S*) (.*)$')
  return answer, asked ~= print
end

local function is_crowded(s)
  local count = call('HLEN', REQUESTS)
  if count >= 256 and s.clock >= s.pruned_at + PRUNE_EVERY_MS then
    s.pruned_at = s.clock
    local all, old = call('HGETALL', REQUESTS), {}
    for i = 1, #all, 2 do
      if tonumber(string.match(all[i + 1], '^%d+')) < s.clock - KEEP_REQUESTS_MS then old[#old + 1] = all[i] end
    end
    for first = 1, #old, 1000 do
      count = count - call('HDEL', REQUESTS, unpack(old, first, math.min(#old, first + 999)))
    end
  end
  return count >= REQUESTS_AT_MOST
end

local function remember(s, request_id, answer)
  local id, print = read_id(request_id)
  call('HSET', REQUESTS, id, text(s.clock) .. (print == '' and '' or '.' .. print) .. ' ' .. answer)
end
