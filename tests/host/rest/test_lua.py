"""The embedded Lua says what Redis 7 says: the same scripts on both, compared word for word."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import Any

import pytest

from host.rest.embedded import EmbeddedBackend
from host.rest.open import open_backend
from host.rest.replies import Reply, ReplyError
from tests.host.rest.servers import RedisServer

SAME = """
return 1
return -1.9
return 1/0
return 2^53
return 'a\\0b'
return {1, {2, 'x', {}}, 3.9, false, true, nil, 5}
return {1, {err='inner'}, {ok='fine'}}
return {err='abc'}
return {ok='fine'}
return redis.error_reply('My Err')
return redis.error_reply('ERR y')
return redis.status_reply('FINE')
return {double=1.5}
return {KEYS[1], KEYS[2], ARGV[1], #KEYS, #ARGV}
return
return function() end
return nil
error('x')
error('x', 0)
error({err='MYCODE hi'})
error()
local t = {} t.a.b = 1
local t = nil + 1
return x1
x1 = 1
string.x = 1
redis.call = nil
KEYS = {}
KEYS[1] = 'changed' return KEYS[1]
syntax error here
return redis.call('HGET', 's', 'f')
local v = redis.call('HGET', 's', 'f') return v
return redis.pcall('HGET', 's', 'f')
return redis.pcall('HGET', 's', 'f').err
local v = redis.call('nope') return v
return redis.pcall('nope').err
return redis.pcall('GET').err
return redis.pcall().err
return redis.pcall('SET', 's', true).err
return redis.pcall('SET', 's', {}).err
return redis.pcall('SET', 's', nil).err
return redis.pcall('EVAL', 'return 1', 0).err
return redis.pcall('BLPOP', 'l', 0).err
return redis.pcall('MULTI').err
return redis.pcall('CONFIG', 'GET', 'save').err
local ok, e = pcall(redis.call, 'HGET', 's', 'f') return {tostring(ok), type(e), e}
local ok, e = pcall(error, {err='z'}) return {type(e), tostring(e)}
local ok, e = pcall(function() return x9 end) return e
local ok, e = pcall(function() error({code=5}) end) return {type(e), e.code}
local ok, a, b = pcall(function() return 1, 2 end) return {a, b}
redis.call('SET', 'n', 0.1) return redis.call('GET', 'n')
redis.call('SET', 'n', 3) return redis.call('GET', 'n')
redis.call('SET', 'n', 1700000000123) return redis.call('GET', 'n')
redis.call('SET', 'n', 2^53) return redis.call('GET', 'n')
redis.call('SET', 'n', -7) return redis.call('GET', 'n')
redis.call('SET', 'n', 1e20) return redis.call('GET', 'n')
return redis.call('SET', 'n', 'v').ok
return type(redis.call('GET', 'none'))
return #redis.call('HGETALL', 'none')
return redis.call('PING')
return type(redis.call('PING'))
return redis.call('HMGET', 'h', 'f', 'none', 'g')
return redis.call('HGETALL', 'h')
return redis.call('ZSCORE', 'z', 'a')
return redis.call('ZRANGE', 'z', 0, -1, 'WITHSCORES')
return redis.sha1hex('')
return redis.sha1hex('abc')
return redis.REDIS_VERSION_NUM >= 0x00070000
return redis.log(redis.LOG_DEBUG, 'x')
return redis.replicate_commands()
return string.format('%.0f', 1.7e15)
return string.format('%08d %5.2f %q %s %x', 7, 3.14159, 'q', 'é', 255)
return tostring(1e15)
return tostring(1700000000123)
return tostring(-0)
return tostring(0.1)
return tostring(1/3)
return tonumber('0x10')
return tonumber('  12  ')
return tostring(tonumber('abc'))
return tostring(10 % 3) .. tostring(-10 % 3) .. tostring(5.5 % 2)
return math.floor(-1.5) + math.ceil(1.2) + math.max(1, 5, 3)
return {('abc'):upper(), ('a,b'):gsub(',', ';')}
return {string.byte('a'), string.char(65, 66), ('x'):rep(3), #'abc'}
local a, b = ('k=v'):match('(%w+)=(%w+)') return {a, b}
local t = {} for w in ('a b c'):gmatch('%w') do t[#t + 1] = w end return t
local t = {3, 1, 2} table.sort(t) return t
return table.concat({1, 2, 'x'}, '-')
return {unpack({1, 2, 3}, 2)}
return select('#', 1, nil, nil)
return loadstring('return 5')()
return {type(loadstring), type(setmetatable), type(coroutine), type(math.random), type(unpack)}
return type(os)
return type(io)
return type(require)
return type(dofile)
return type(print)
return type(python)
return type(debug)
return type(getfenv)
local t = setmetatable({}, {__index = function() return 4 end}) return t.x
local co = coroutine.wrap(function() coroutine.yield(1) coroutine.yield(2) end) return {co(), co()}
return cjson.encode({})
return cjson.encode({1, 2, {3}})
return cjson.encode({a = 'x/y"\\\\\\n\\127é'})
return cjson.encode({1/3, 1e15, 100, 1e20, -0.5, 2^53})
return cjson.encode({[1] = 1, [3] = 3})
local v = cjson.encode({[1] = 1, [50] = 2}) return v
return cjson.encode({[1.5] = 1})
return cjson.encode({[10] = 'a', x = 'b'}) ~= ''
return cjson.encode(cjson.null)
return cjson.encode(nil)
return cjson.encode('x')
return cjson.encode(true)
local ok, e = pcall(cjson.encode, 0/0) return e
local ok, e = pcall(cjson.encode, {[cjson.null] = 1}) return e
local ok, e = pcall(cjson.encode, function() end) return e
local t = cjson.decode('{"a":[1,2.5,null,true],"b":"x"}') return {t.a[1], tostring(t.a[2]), t.b, tostring(t.a[3] == cjson.null)}
return cjson.encode(cjson.decode('[1,2.5,null,true,"\\\\u00e9\\\\/"]'))
return tostring(cjson.decode('123456789012345678'))
return #cjson.decode('[]')
local ok = pcall(cjson.decode, '{bad') return tostring(ok)
local ok = pcall(cjson.decode, '') return tostring(ok)
return {bit.band(12, 10), bit.bor(12, 10), bit.bxor(12, 10), bit.bnot(0)}
return {bit.lshift(1, 31), bit.rshift(-1, 28), bit.arshift(-8, 1), bit.lshift(1, 33)}
return {bit.rol(0x12345678, 12), bit.ror(0x12345678, 12), bit.bswap(0x12345678)}
return {bit.tobit(0xffffffff), bit.tobit(2^40 + 5), bit.band(1, 3, 5), bit.tobit(1.7)}
return {bit.tohex(-1), bit.tohex(255, 4), bit.tohex(255, -4), bit.tohex(1)}
redis.call('SETBIT', 'b', 100, 1) return {redis.call('GETBIT', 'b', 100), redis.call('GETBIT', 'b', 99), redis.call('STRLEN', 'b')}
return redis.call('BITCOUNT', 'b')
return redis.call('ZADD', 'z2', 'GT', 'CH', 5, 'a', 6, 'b')
return redis.call('ZADD', 'z2', 'GT', 'CH', 4, 'a', 9, 'b')
return redis.call('ZADD', 'z2', 'XX', 'CH', 1, 'a', 1, 'new')
return redis.call('ZADD', 'z2', 'XX', 'GT', 'CH', 3, 'a')
return redis.call('ZADD', 'z2', 'NX', 8, 'a', 8, 'c')
return redis.call('ZADD', 'z2', 'INCR', 2, 'a')
return redis.call('ZRANGE', 'z2', '-inf', '(9', 'BYSCORE', 'LIMIT', 0, 2)
return redis.call('ZRANGE', 'z2', '+inf', '-inf', 'BYSCORE', 'REV', 'LIMIT', 0, 2, 'WITHSCORES')
return redis.call('ZRANGEBYSCORE', 'z2', '-inf', '+inf', 'WITHSCORES', 'LIMIT', 1, 1)
return redis.call('ZCOUNT', 'z2', '(3', 9)
return redis.call('ZRANK', 'z2', 'b')
return redis.call('ZRANK', 'z2', 'none')
return redis.call('ZREMRANGEBYSCORE', 'z2', 8, 8)
return redis.call('ZPOPMIN', 'z2')
return redis.call('ZPOPMIN', 'z2', 5)
return redis.call('ZPOPMIN', 'none')
return redis.call('ZCARD', 'z2')
return redis.call('ZREM', 'z', 'none', 'a')
redis.call('SET', 'old', 1) redis.call('RENAME', 'old', 'new') return {redis.call('EXISTS', 'old', 'new'), redis.call('GET', 'new')}
return redis.pcall('RENAME', 'missing', 'x').err
return redis.call('UNLINK', 'new', 'missing')
return redis.call('DEL', 'missing')
return redis.call('HSETNX', 'h', 'f', 9)
return redis.call('HINCRBY', 'h', 'count', 5)
return redis.pcall('HINCRBY', 'h', 'word', 5).err
return redis.call('HDEL', 'h', 'count', 'none')
return redis.call('PEXPIRE', 'h', 100000) .. redis.call('PTTL', 'none')
return redis.call('PERSIST', 'h')
return redis.call('SET', 'once', 1, 'NX', 'PX', 100000)
return redis.call('SET', 'once', 1, 'NX')
return redis.call('LPUSH', 'l', 'a', 'b') + redis.call('LLEN', 'l')
return redis.call('LRANGE', 'l', 0, -1)
return redis.call('SADD', 'set', 'a', 'b', 'a')
return redis.call('TOUCH', 's', 'none')
return #redis.call('TIME')
return type(redis.call('LASTSAVE'))
return redis.call('INFO', 'server'):match('run_id:(%x+)'):len()
return redis.call('FLUSHALL', 'ASYNC').ok
""".strip().splitlines()  # noqa: E501

WHOLE = [
    [b"EVAL", b"#!lua\nreturn 1", b"0"],
    [b"EVAL", b"#!lua flags=no-writes\nlocal v = redis.call('SET', 'a', 1)", b"0"],
    [b"EVAL", b"#!lua flags=no-writes\nlocal v = redis.call('GET', 's')\nreturn v", b"0"],
    [b"EVAL", b"#!lua flags=foo\nreturn 1", b"0"],
    [b"EVAL", b"#!js\nreturn 1", b"0"],
    [b"EVAL", b"#!lua name=x\nreturn 1", b"0"],
    [b"EVAL", b"#!lua\n\nerror('third')", b"0"],
    [b"EVAL", b"\n\nlocal v = redis.call('HGET', 's', 'f')\nreturn v", b"0"],
    [b"EVAL_RO", b"local v = redis.call('SET', 'a', 1) return v", b"0"],
    [b"EVAL", b"return 1", b"-1"],
    [b"EVAL", b"return 1", b"2", b"a"],
    [b"EVAL", b"return 1", b"x"],
    [b"EVAL", b"return 1"],
    [b"EVAL", b"", b"0"],
    [b"EVALSHA", b"xx", b"0"],
    [b"EVALSHA_RO", b"f" * 40, b"0"],
    [b"SCRIPT", b"LOAD", b"syntax err"],
    [b"SCRIPT", b"LOAD", b"return 1"],
    [b"SCRIPT", b"FLUSH", b"bad"],
    [b"SCRIPT", b"FLUSH", b"ASYNC"],
    [b"SCRIPT", b"EXISTS", b"f" * 40],
    [b"EVAL", b"return {KEYS[1], ARGV[1], ARGV[2]}", b"1", b"k\xff", b"", b"\x00"],
]

SETTING = [
    [b"FLUSHALL"],
    [b"SET", b"s", b"x"],
    [b"HSET", b"h", b"f", b"1", b"g", b"2", b"word", b"x"],
    [b"ZADD", b"z", b"1.5", b"a", b"2", b"b"],
]


def on_both(real: RedisServer, commands: list[list[bytes]]) -> list[tuple[list[bytes], Reply, Reply]]:
    async def run(url: str) -> list[Reply]:
        backend = open_backend(url)
        try:
            await backend.run(SETTING)
            return await backend.run(commands)
        finally:
            await backend.close()

    return list(zip(commands, asyncio.run(run("")), asyncio.run(run(real.url)), strict=True))


def test_scripts_answer_alike(real_redis: RedisServer) -> None:
    commands = [[b"EVAL", script.encode(), b"0"] for script in SAME]
    different = [
        (script[1].decode(), embedded, real) for script, embedded, real in on_both(real_redis, commands) if embedded != real
    ]
    assert different == []


def test_script_commands_answer_alike(real_redis: RedisServer) -> None:
    different = [triple for triple in on_both(real_redis, WHOLE) if triple[1] != triple[2]]
    assert different == []


# -- the sandbox, which has no counterpart


def evaluate(script: str, *, backend: EmbeddedBackend | None = None) -> Reply:
    async def run() -> Reply:
        (reply,) = await (backend or EmbeddedBackend()).run([[b"EVAL", script.encode(), b"0"]])
        return reply

    return asyncio.run(run())


@pytest.mark.parametrize(
    "way_out",
    [
        "return redis.call.__globals__",
        "return cjson.encode.__globals__",
        "return cjson.null.__class__",
        "return bit.band.__code__",
        "local ok, v = pcall(function() return cjson.null.__class__.__base__.__subclasses__ end) return v.x.y",
        "return getmetatable('').__index.format.x.y",
        "return python.eval('1')",
        "return _G.python.builtins",
        "return loadstring('return python')().x",
        "return setmetatable(_G, {})",
        "rawset(_G, 'x', 1)",
        "return coroutine.wrap(function() return python end)().x",
    ],
)
def test_a_script_does_not_reach_python(way_out: str) -> None:
    reply = evaluate(way_out)
    assert isinstance(reply, ReplyError)
    assert "the embedded Redis failed" not in reply.text


def test_bytecode_is_not_loaded() -> None:
    script = "return {type(loadstring('\\27Lua')), (select(2, loadstring('\\27Lua')))}"
    assert evaluate(script) == [b"nil", b"only source text can be loaded"]
    reply = evaluate("\x1bLua")
    assert isinstance(reply, ReplyError)
    assert "bytecode" in reply.text


def test_a_script_leaves_nothing_behind() -> None:
    backend = EmbeddedBackend()
    evaluate("KEYS[5] = 'x' local leaked = 1", backend=backend)
    assert evaluate("return #KEYS", backend=backend) == 0
    assert isinstance(evaluate("return leaked", backend=backend), ReplyError)


def test_an_endless_loop_is_stopped() -> None:
    reply = evaluate("while true do end")
    assert isinstance(reply, ReplyError)
    assert reply.text.startswith("ERR the script ran too long and was stopped")


def test_a_fault_inside_is_the_commands_error_only(monkeypatch: pytest.MonkeyPatch) -> None:
    from host.rest.embedded_socket import EmbeddedSocket

    def broken(*_args: Any) -> Any:
        raise RuntimeError("broken inside")

    async def run() -> tuple[Reply, list[Reply] | ReplyError, Reply]:
        backend = EmbeddedBackend()
        await backend.run([[b"SET", b"a", b"1"]])
        monkeypatch.setattr(EmbeddedSocket, "strlen", broken)
        (first,) = await backend.run([[b"STRLEN", b"a"]])
        inside = await backend.transaction([[b"STRLEN", b"a"]])
        (after,) = await backend.run([[b"GET", b"a"]])
        return first, inside, after

    first, inside, after = asyncio.run(run())
    assert isinstance(first, ReplyError)
    assert "RuntimeError: broken inside" in first.text
    assert isinstance(inside, ReplyError)
    assert after == b"1"


def test_script_texts_are_bounded() -> None:
    from host.rest.embedded_socket import MAX_SCRIPTS

    async def run() -> list[Reply]:
        backend = EmbeddedBackend()
        texts = [b"return %d" % number for number in range(MAX_SCRIPTS + 1)]
        shas = await backend.run([[b"SCRIPT", b"LOAD", text] for text in texts])
        return await backend.run([[b"EVALSHA", sha, b"0"] for sha in (shas[0], shas[1], shas[-1]) if isinstance(sha, bytes)])

    assert asyncio.run(run()) == [ReplyError("NOSCRIPT No matching script. Please use EVAL."), 1, MAX_SCRIPTS]


def test_compiled_scripts_are_bounded() -> None:
    from host.rest import embedded_lua

    called: Callable[[list[bytes], bool], tuple[bool, Any]] = lambda _words, _read_only: (True, None)  # noqa: E731
    engine = embedded_lua.LuaEngine(called)
    for number in range(embedded_lua.MAX_COMPILED + 10):
        engine.compile(b"%d" % number, b"return %d" % number)
    assert len(engine._compiled) == embedded_lua.MAX_COMPILED
    assert engine.run(b"0", b"return 0", [], [], False) == 0
