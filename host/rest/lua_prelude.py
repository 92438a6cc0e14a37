"""The Lua side of the embedded sandbox: what a script can see, and how its errors are told."""

from __future__ import annotations

#: Returns two functions: `install(f)` gives a compiled script the sandbox as its globals, `run(f, keys,
#: argv)` runs it and returns true and its value, or false, the error text, the chunk's name and the line.
PRELUDE = rb"""
local raw_call, sha1hex, json_encode, json_decode, null, bits, max_instructions = ...

local getinfo, sethook, setfenv, setmetatable = debug.getinfo, debug.sethook, setfenv, setmetatable
local error, pcall, xpcall, type, loadstring, rawset = error, pcall, xpcall, type, loadstring, rawset

-- the C function has no source; the first frame of the script is the place to name
local function place()
  for level = 3, 50 do
    local info = getinfo(level, 'Sl')
    if not info then break end
    if info.source == '@user_script' then return info.source, info.currentline end
  end
  return '@user_script', 1
end

local function read_only() error('Attempt to modify a readonly table', 2) end

local function frozen(table) return setmetatable({}, {__index = table, __newindex = read_only}) end

local redis = {
  LOG_DEBUG = 0, LOG_VERBOSE = 1, LOG_NOTICE = 2, LOG_WARNING = 3,
  REPL_NONE = 0, REPL_AOF = 1, REPL_SLAVE = 2, REPL_REPLICA = 2, REPL_ALL = 3,
  REDIS_VERSION = '7.0.15', REDIS_VERSION_NUM = 0x0007000f,
}

function redis.call(...)
  local ok, value = raw_call(...)
  if ok then return value end
  local source, line = place()
  error({err = value, source = source, line = line}, 0)
end

function redis.pcall(...)
  local ok, value = raw_call(...)
  if ok then return value end
  return {err = value}
end

local function one_string(text, ...)
  if select('#', ...) > 0 or type(text) ~= 'string' then
    error({err = 'ERR wrong number or type of arguments'}, 0)
  end
  return text
end

function redis.error_reply(...) return {err = (one_string(...):gsub('^%-', ''))} end
function redis.status_reply(...) return {ok = one_string(...)} end
function redis.log() end
function redis.replicate_commands() return true end
function redis.set_repl() end
function redis.setresp(version)
  if version ~= 2 then error({err = 'ERR RESP version must be 2 in the embedded Redis.'}, 0) end
end
function redis.sha1hex(...)
  if select('#', ...) ~= 1 then error({err = 'ERR wrong number of arguments'}, 0) end
  local text = ...
  return sha1hex(type(text) == 'number' and tostring(text) or text)
end

local function checked(f)
  return function(...)
    local ok, value = f(...)
    if ok then return value end
    error(value, 2)
  end
end

local cjson = {encode = checked(json_encode), decode = checked(json_decode), null = null}
local bit = {}
for name, f in pairs(bits) do bit[name] = checked(f) end

local globals = {
  assert = assert, collectgarbage = collectgarbage, coroutine = frozen(coroutine), error = error,
  gcinfo = gcinfo, getmetatable = getmetatable, ipairs = ipairs, math = frozen(math), next = next,
  pairs = pairs, rawequal = rawequal, rawget = rawget, select = select, setmetatable = setmetatable,
  string = frozen(string), table = frozen(table), tonumber = tonumber, tostring = tostring, type = type,
  unpack = unpack, xpcall = xpcall, _VERSION = _VERSION,
  redis = frozen(redis), cjson = frozen(cjson), bit = frozen(bit),
}
local env = setmetatable({}, {__index = globals, __newindex = read_only, __metatable = false})
globals._G = env
getmetatable('').__metatable = false

setmetatable(globals, {__index = function(_, name)
  error("Script attempted to access nonexistent global variable '" .. tostring(name) .. "'", 2)
end})

function globals.rawset(table, key, value)
  if table == env then read_only() end
  return rawset(table, key, value)
end

-- Redis 7 hands the text of an error reply, not its table, to a script's own pcall
local function with_text(ok, value, ...)
  if not ok and type(value) == 'table' and value.err then return ok, value.err end
  return ok, value, ...
end
function globals.pcall(...) return with_text(pcall(...)) end

function globals.loadstring(text, name)
  if type(text) ~= 'string' or text:sub(1, 1) == '\27' then return nil, 'only source text can be loaded' end
  local f, problem = loadstring(text, name or '@user_script')
  return f and setfenv(f, env), problem
end
globals.load = globals.loadstring

local function told(problem)
  if type(problem) == 'table' then
    local source, line = place()
    return {problem.err or 'ERR unknown error', problem.source or source, problem.line or line}
  end
  local source, line = place()
  return {'ERR ' .. tostring(problem), source, line}
end

local function too_long() error({err = 'ERR the script ran too long and was stopped'}, 0) end

local function install(f) return setfenv(f, env) end

local function run(f, keys, argv)
  globals.KEYS, globals.ARGV = keys, argv
  sethook(too_long, '', max_instructions)
  local ok, value = xpcall(f, told)
  sethook()
  if ok then return true, value, '', 0 end
  return false, value[1], value[2], value[3]
end

return install, run
"""
