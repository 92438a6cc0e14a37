"""fakeredis' side of a connection, driven without one: commands go in as words, raw replies come out.

It leans on internals of fakeredis, whose version is pinned; tests/host/rest compares it with a real Redis.
"""

from __future__ import annotations

import os
from collections.abc import Callable
from functools import cached_property
from typing import Any

import redis.asyncio
from fakeredis import FakeServer
from fakeredis._commands import Signature
from fakeredis._helpers import OK, SimpleError, SimpleString
from fakeredis._socket._resp import extract_command
from fakeredis.aioredis import AsyncFakeSocket
from fakeredis.model import is_write_command

from host.rest.embedded_commands import ADDED, COMMANDS, NO_SCRIPT
from host.rest.embedded_lua import LuaEngine
from host.rest.lua_json import sha1hex
from host.rest.replies import Reply, ReplyError, Status, flatten
from host.rest.requests import Command

#: Version that the embedded server claims: its Lua and its error texts are made after this one.
REDIS_VERSION = (7, 0, 15)

#: Texts of scripts that are kept, the newest. Who sends EVALSHA must be ready for NOSCRIPT anyway.
MAX_SCRIPTS = 2000


class EmbeddedSocket(AsyncFakeSocket):
    """fakeredis' server side of one connection, with our Lua and with raw replies given to `deliver`."""

    def __init__(self, server: FakeServer, deliver: Callable[[Reply], None], run_id: str) -> None:
        super().__init__(server, 0, client_class=redis.asyncio.Redis)
        self._deliver = deliver
        self._run_id = run_id

    @cached_property
    def _engine(self) -> LuaEngine:
        return LuaEngine(self._call_from_script)

    def execute(self, command: Command) -> None:
        """Runs one command; its reply goes to `deliver`."""
        self._process_command(command)

    def put_response(self, msg: Any) -> None:  # noqa: D102
        self._deliver(flatten(msg))

    def _decode_result(self, result: Any) -> Any:
        if isinstance(result, list):
            return [self._decode_result(item) for item in result]
        if isinstance(result, SimpleString):
            return Status(result.value)
        return ReplyError(result.value) if isinstance(result, SimpleError) else result

    def _blocking(self, timeout: Any, func: Callable[[bool], Any], shape: Callable[[Any], Any] | None = None) -> Any:
        value = func(True)  # one look, never a wait: the whole process would wait with it
        return value if shape is None else shape(value)

    def _name_to_func(self, cmd_name: str) -> tuple[Any, Signature]:
        added = ADDED.get(cmd_name)
        if added is not None:
            return getattr(self, added.func_name), added
        if cmd_name.partition(" ")[0] not in COMMANDS:
            shown = cmd_name[:128].replace("\r", " ").replace("\n", " ")
            raise SimpleError(f"ERR unknown command '{shown}', with args beginning with: ")
        function, signature = super()._name_to_func(cmd_name)
        return function, signature

    # -- scripts

    def eval(self, script: bytes, numkeys: int, *rest: bytes) -> Any:  # noqa: D102
        return self._run_script(script, numkeys, rest, read_only=False)

    def eval_ro(self, script: bytes, numkeys: int, *rest: bytes) -> Any:  # noqa: D102
        return self._run_script(script, numkeys, rest, read_only=True)

    def evalsha(self, sha1: bytes, numkeys: int, *rest: bytes) -> Any:  # noqa: D102
        return self._run_script(self._text_of(sha1), numkeys, rest, read_only=False)

    def evalsha_ro(self, sha1: bytes, numkeys: int, *rest: bytes) -> Any:  # noqa: D102
        return self._run_script(self._text_of(sha1), numkeys, rest, read_only=True)

    def script_load(self, *args: bytes) -> bytes:  # noqa: D102
        if len(args) != 1:
            raise SimpleError("ERR wrong number of arguments for 'script|load' command")
        sha = sha1hex(args[0])
        self._engine.compile(sha, args[0])
        self._remember(sha, args[0])
        return sha

    def script_exists(self, *args: bytes) -> list[int]:  # noqa: D102
        return [int(sha.lower() in self._server.script_cache) for sha in args]

    def script_flush(self, *args: bytes) -> SimpleString:  # noqa: D102
        if [arg.lower() for arg in args] not in ([], [b"sync"], [b"async"]):
            raise SimpleError("ERR SCRIPT FLUSH only support SYNC|ASYNC option")
        self._server.script_cache.clear()
        self._engine.forget()
        return OK

    def _remember(self, sha: bytes, text: bytes) -> None:
        cache = self._server.script_cache
        cache[sha] = text
        if len(cache) > MAX_SCRIPTS:
            del cache[next(iter(cache))]

    def _text_of(self, sha: bytes) -> bytes:
        try:
            return self._server.script_cache[sha.lower()]
        except KeyError:
            raise SimpleError("NOSCRIPT No matching script. Please use EVAL.") from None

    def _run_script(self, text: bytes, numkeys: int, rest: tuple[bytes, ...], read_only: bool) -> Any:
        if numkeys > len(rest):
            raise SimpleError("ERR Number of keys can't be greater than number of args")
        if numkeys < 0:
            raise SimpleError("ERR Number of keys can't be negative")
        sha = sha1hex(text)
        reply = self._engine.run(sha, text, rest[:numkeys], rest[numkeys:], read_only)
        self._remember(sha, text)
        if isinstance(reply, SimpleError):
            raise reply
        return reply

    def _call_from_script(self, words: list[bytes], read_only: bool) -> tuple[bool, Any]:
        name, args = extract_command(words)
        try:
            function, signature = self._name_to_func(name)
        except SimpleError:
            return False, b"ERR Unknown Redis command called from script"
        try:
            signature.check_arity(args, self.version)
        except SimpleError:
            return False, b"ERR Wrong number of args calling Redis command from script"
        if read_only and is_write_command(words[0].lower()):
            return False, b"ERR Write commands are not allowed from read-only scripts."
        if NO_SCRIPT in signature.flags:
            return False, b"ERR This Redis command is not allowed from script"
        reply = self._run_command(function, signature, args, True)
        if isinstance(reply, SimpleError):
            return False, reply.value.encode()
        return True, reply

    # -- server

    def info(self, *_sections: bytes) -> bytes:
        """The few lines that a client may look for; `run_id` is new with each process."""
        lines = [
            "# Server", "redis_version:" + ".".join(map(str, REDIS_VERSION)), "redis_mode:standalone",
            f"process_id:{os.getpid()}", f"run_id:{self._run_id}", "tcp_port:0",
            "# Memory", "maxmemory:0", "maxmemory_policy:noeviction",
            "# Persistence", "loading:0", f"rdb_last_save_time:{self._server.lastsave}",
            "# Keyspace", f"db0:keys={len(self._db)},expires=0,avg_ttl=0", "",
        ]  # fmt: skip
        return "\r\n".join(lines).encode()

    def config_get(self, *names: bytes) -> list[bytes]:
        """The settings that exist here."""
        known = {b"maxmemory": b"0", b"maxmemory-policy": b"noeviction", b"save": b"", b"appendonly": b"no"}
        return [word for name in names if name.lower() in known for word in (name.lower(), known[name.lower()])]
