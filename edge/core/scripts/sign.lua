--@include visit
--@include place

-- A sign of life of somebody who has a place by a token of this epoch, and the claim when its turn has come.
local function show_sign(s, token, visitor, wants_in)
  local line, position = read_token(s, token)
  if was_set_back(s, line, position, visitor) then
    start_recovery(s)
    come_back(line, visitor, position)
    return { 'recovering', text(s.reentry_until - s.clock) }, line
  end
  pump(s)
  -- Who left before the opening is known by the map alone: numbers of arrival are no places yet.
  local given_up = s.opens_at > 0 and select(3, known_place(s, visitor))
  if given_up then return { 'ended', token }, line end
  return visit(s, line, position, wants_in), line
end
