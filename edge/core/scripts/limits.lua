-- limits: an operator sets or clears live values; they are in force at once and outlive a publish that leaves them alone.
-- ARGV  3 request id, or '' (then a repeat sets the values again)
--       4... pairs of name and value: rate, burst, max_active, inventory; '' = no limit, '=' = what the configuration says
-- Answers: {'ok', rate, burst, max_active, inventory, names of the live ones}   {'missing'}   {'busy'}: too many steps within
--          the hour   {'reused'}: the id came with something else before (requests.lua)
--@include engine
--@include requests
--@include snapshot_reply

local function set_live(s)
  local live = {}
  for name in string.gmatch(s.operator, '%S+') do live[name] = true end
  local had_rate = s.rate
  for i = 4, #ARGV, 2 do
    local name, value = ARGV[i], ARGV[i + 1]
    live[name] = value ~= '=' or nil
    if value == '=' then value = call('HGET', STATE, 'config_' .. name) or '' end
    s[name] = tonumber(value)
  end
  local names = {}
  for i = 1, OPERATORS_FIELDS do
    if live[LIMIT_FIELDS[i]] then names[#names + 1] = LIMIT_FIELDS[i] end
  end
  s.operator = table.concat(names, ' ')
  apply_settings(s, had_rate)
end

local s = load_state()
if not s then return { { 'missing' }, {} } end
local request_id = ARGV[3] ~= '' and 'limits ' .. ARGV[3] or nil
local before, is_reused
if request_id then before, is_reused = recall(request_id) end
if is_reused then return { { 'reused' }, short_snapshot(s) } end
-- Time until now is earned at the old rate; nobody is called any more by the old limits.
tick(s)
if request_id and is_crowded(s) and not before then
  save_state(s)
  return { { 'busy' }, short_snapshot(s) }
end
if not before then set_live(s) end
if request_id then remember(s, request_id, 'set') end
pump(s, true)
save_state(s)

return { { 'ok', shown(s.rate), shown(s.burst), shown(s.max_active), shown(s.inventory), s.operator }, short_snapshot(s) }
