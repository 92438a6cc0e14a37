from __future__ import annotations

import asyncio

import pytest

from host.rest.embedded_commands import ADDED, COMMANDS
from host.rest.keys import first_key
from host.rest.open import open_backend
from host.rest.policy import READ_COMMANDS, read_only_refusal, refusal
from host.rest.replies import Reply, ReplyError
from tests.host.rest.servers import RedisServer


def words(text: str) -> list[bytes]:
    return text.encode().split()


@pytest.mark.parametrize(
    "command",
    [
        "MULTI", "exec", "WATCH a", "DISCARD", "SUBSCRIBE c", "BLPOP a 0", "bzpopmin a 0", "WAIT 1 0", "AUTH x",
        "SELECT 1", "CLIENT LIST", "SHUTDOWN", "DEBUG SLEEP 1", "REPLICAOF h 1", "CONFIG SET dir /", "config", "ACL LIST",
        "SCRIPT DEBUG YES", "CLUSTER RESET", "MONITOR", "XREAD BLOCK 0 STREAMS a 0", "xreadgroup GROUP g c block 0 STREAMS a 0",
        "CONFIG GET *", "config get requirepass", "CONFIG GET maxmemory master[a]uth", "MODULE LOAD x", "MIGRATE h 1 k 0 1",
    ],
)  # fmt: skip
def test_what_cannot_run_over_rest_is_refused_by_name(command: str) -> None:
    told = refusal(words(command))
    assert told is not None
    assert told.startswith(f"ERR command '{command.split()[0].upper()}")


@pytest.mark.parametrize(
    "command",
    [
        "GET a", "SET a b", "EVAL x 0", "SCRIPT LOAD x", "script flush", "CONFIG GET maxmemory-policy", "CLUSTER INFO",
        "XREAD COUNT 1 STREAMS block 0", "PUBLISH c m", "FLUSHALL", "ACL WHOAMI", "INFO",
    ],
)  # fmt: skip
def test_ordinary_commands_pass(command: str) -> None:
    assert refusal(words(command)) is None


def test_two_words_in_one_do_not_slip_through() -> None:
    told = refusal([b"CONFIG SET", b"dir", b"/"])
    assert told is not None
    assert "each word" in told


@pytest.mark.parametrize("command", ["SET a b", "EVAL_RO x 0", "KEYS *", "SCAN 0", "PUBLISH c m", "FLUSHALL", "sort_ro a"])
def test_a_read_only_token_may_not(command: str) -> None:
    name = command.split()[0].lower()
    assert read_only_refusal(words(command)) == f"NOPERM this user has no permissions to run the '{name}' command"


@pytest.mark.parametrize("command", ["GET a", "hgetall a", "TTL a", "PING", "zrange a 0 -1"])
def test_a_read_only_token_may_read(command: str) -> None:
    assert read_only_refusal(words(command)) is None


# -- the tables against a real server's


def ask(redis: RedisServer, commands: list[list[bytes]]) -> list[Reply]:
    async def run() -> list[Reply]:
        backend = open_backend(redis.url)
        try:
            return await backend.run(commands)
        finally:
            await backend.close()

    return asyncio.run(run())


def command_table(redis: RedisServer) -> dict[bytes, set[bytes]]:
    (rows,) = ask(redis, [[b"COMMAND"]])
    assert isinstance(rows, list)
    return {row[0].upper(): set(row[2]) for row in rows}  # type: ignore[index, union-attr, arg-type]


def test_every_read_command_is_read_only_to_redis(real_redis: RedisServer) -> None:
    table = command_table(real_redis)
    not_keyed = {b"PING", b"ECHO", b"TIME"}
    assert table.keys() >= READ_COMMANDS
    assert [name for name in READ_COMMANDS - not_keyed if b"readonly" not in table[name]] == []
    assert [name for name in not_keyed if b"write" in table[name]] == []


def test_the_embedded_redis_has_only_commands_of_redis_7(real_redis: RedisServer) -> None:
    table = {name.decode().lower() for name in command_table(real_redis)}
    offered = COMMANDS | {name.split()[0] for name in ADDED}
    assert offered <= table
    # What a queue needs must not get lost.
    needed = {
        "eval", "evalsha", "script", "time", "lastsave", "info", "zadd", "zrange", "zpopmin", "unlink", "rename", "setbit",
        "getbit",
    }  # fmt: skip
    assert offered >= needed


@pytest.mark.parametrize(
    "command", ["FUNCTION LIST", "FCALL f 0", "TS.MGET x", "JSON.GET k", "BF.ADD k x", "VADD k x", "nope a b"]
)
def test_the_embedded_redis_does_not_know_others(command: str) -> None:
    async def run() -> list[Reply]:
        return await open_backend("").run([words(command)])

    (reply,) = asyncio.run(run())
    assert isinstance(reply, ReplyError)
    assert reply.text.startswith(f"ERR unknown command '{command.split()[0].lower()}")


def test_no_blocking_command_passes(real_redis: RedisServer) -> None:
    blocking = [name for name, flags in command_table(real_redis).items() if b"blocking" in flags]
    assert blocking
    streams = {b"XREAD", b"XREADGROUP"}
    assert [name for name in blocking if name not in streams and refusal([name, b"a", b"0"]) is None] == []


KEYED = [
    "GET {k}", "MGET {k} {k}x", "SET {k} v", "EVAL text 2 {k} {k}x a", "EVALSHA_RO sha 1 {k}", "FCALL f 1 {k}",
    "ZUNION 2 {k} {k}x", "ZINTERCARD 1 {k}", "SINTERCARD 1 {k}", "LMPOP 1 {k} LEFT", "ZMPOP 1 {k} MIN",
    "ZUNIONSTORE {k} 1 {k}x", "XREAD COUNT 2 STREAMS {k} 0", "XREADGROUP GROUP g c STREAMS {k} >", "BITOP AND {k} {k}x",
    "OBJECT ENCODING {k}", "XINFO STREAM {k}", "XGROUP CREATE {k} g 0", "MEMORY USAGE {k}", "SORT {k}", "GEORADIUS {k} 1 1 1 m",
    "COPY {k} {k}x", "RENAME {k} {k}x", "XADD {k} * f v", "PFCOUNT {k} {k}x",
]  # fmt: skip
KEYLESS = [
    "PING", "TIME", "INFO", "DBSIZE", "SCRIPT LOAD x", "EVAL text 0", "EVALSHA sha 0 a", "PUBLISH c m", "KEYS *", "LASTSAVE",
    "FLUSHALL", "CONFIG GET x", "MEMORY STATS", "RANDOMKEY", "ECHO a", "SCAN 0",
]  # fmt: skip


def test_first_keys_are_those_that_redis_finds(real_redis: RedisServer) -> None:
    commands = [words(text.replace("{k}", "key")) for text in KEYED]
    found = ask(real_redis, [[b"COMMAND", b"GETKEYS", *command] for command in commands])
    for command, keys in zip(commands, found, strict=True):
        assert isinstance(keys, list), (command, keys)
        assert first_key(command) == keys[0]


def test_commands_without_keys_have_none_for_redis_either(real_redis: RedisServer) -> None:
    commands = [words(text) for text in KEYLESS]
    assert [first_key(command) for command in commands] == [None] * len(commands)
    for command, answer in zip(
        commands, ask(real_redis, [[b"COMMAND", b"GETKEYS", *command] for command in commands]), strict=True
    ):
        assert answer == [] or "key" in getattr(answer, "text", ""), (command, answer)


@pytest.mark.parametrize("command", ["GET", "EVAL x", "EVAL", "XREAD STREAMS", "XREAD COUNT 1", "ZUNION", "BITOP", "MEMORY"])
def test_a_command_that_is_too_short_has_no_key(command: str) -> None:
    assert first_key(words(command)) is None
