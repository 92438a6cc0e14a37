-- One place for one key: the visitor 'k.2' is the third whom the site's word for 'k' made here, after k.0 and k.1 were over. Whoever
-- comes with the key is the last of them. The map of places forgets after two hours; this one keeps until the epoch ends.
local TAKEN_OVER = 'v'

local function read_holder(key)
  local found = call('HGET', HOLDERS, key)
  if not found then return nil end
  return string.match(found, '^(%d+) (.+)$')
end

-- Key and count of a visitor; nil for one who came without a key.
local function read_visitor(visitor) return string.match(visitor, '^(.+)%.(%d+)$') end

local function hold(visitor, member)
  local key, count = read_visitor(visitor)
  if key then call('HSET', HOLDERS, key, count .. ' ' .. member) end
end

-- The place that was given to this very visitor of a key, if it is the last one.
local function held_member(visitor)
  local key, count = read_visitor(visitor)
  if not key then return nil end
  local last, member = read_holder(key)
  return last == count and member or nil
end

-- The visitor that a key stands for now.
local function holder_of(visitor)
  local key = read_visitor(visitor)
  local last = key and read_holder(key)
  return last and key .. '.' .. last or visitor
end
