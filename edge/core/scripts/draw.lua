-- The drawn order: a keyed permutation of the arrival numbers of a line (edge/core/draw.py is the same in Python).
local DRAW_ROUNDS = 8

local function draw_hash(key, line, round, half)
  local digest = redis.sha1hex(key .. ':' .. line .. ':' .. text(round) .. ':' .. text(half))
  return tonumber(string.sub(digest, 1, 8), 16)
end

local function permute_once(key, line, value, bits)
  local size = 2 ^ bits
  local left, right = math.floor(value / size), value % size
  for round = 0, DRAW_ROUNDS - 1 do
    local mixed = bit.bxor(left, bit.band(draw_hash(key, line, round, right), size - 1))
    left, right = right, mixed
  end
  return left * size + right
end

-- The place of arrival `number` among `count`: walks the cycle until it is within the count, at most four times on average.
local function drawn_place(key, line, number, count)
  local bits = 1
  while 4 ^ bits < count do bits = bits + 1 end
  local value = number - 1
  repeat value = permute_once(key, line, value, bits) until value < count
  return value + 1
end

-- The place of a number that was given before the opening; later ones are places as they are.
local function place_of(s, line, number)
  if s.draw_key == '' or number > line.drawn then return number end
  return drawn_place(s.draw_key, text(line.index), number, line.drawn)
end

-- Each arrival before the opening is chained to those before it, so that nobody can be added or taken out afterwards.
local function chain_arrival(s, line, number, visitor)
  s.chain = redis.sha1hex(s.chain .. ':' .. text(line.index) .. ':' .. text(number) .. ':' .. redis.sha1hex(visitor))
end
