-- limits: an operator sets or clears live values; they are in force at once and outlive a publish that leaves them alone.
-- ARGV  3... pairs of name and value: rate, burst, max_active, inventory; '' = no limit, '=' = what the configuration says
-- Answers: {'ok', rate, burst, max_active, inventory, names of the live ones}   {'missing'}
--@include head
--@include state
--@include pump
--@include snapshot_reply

local s = load_state()
if not s then return { { 'missing' }, {} } end
-- Time until now is earned at the old rate.
tick(s)
pump(s)
local live = {}
for name in string.gmatch(s.operator, '%S+') do live[name] = true end
local had_rate = s.rate
for i = 3, #ARGV, 2 do
  local name, value = ARGV[i], ARGV[i + 1]
  live[name] = value ~= '=' or nil
  if value == '=' then value = call('HGET', STATE, 'config_' .. name) or '' end
  s[name] = tonumber(value)
end
local names = {}
for _, name in ipairs(LIMIT_FIELDS) do
  if live[name] then names[#names + 1] = name end
end
s.operator = table.concat(names, ' ')
if s.rate then s.units = had_rate and math.min(s.units, bucket_size(s)) or bucket_size(s) end
pump(s, true)
save_state(s)
local function shown(value) return value and text(value) or '' end
return { { 'ok', shown(s.rate), shown(s.burst), shown(s.max_active), shown(s.inventory), s.operator }, short_snapshot(s) }
