"""The two stores that the scripts run on: the embedded Redis and a real one that refuses undeclared keys."""

from __future__ import annotations

import asyncio
import socket
import subprocess
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Protocol

import redis

from edge.core import calls
from edge.core.calls import Answer, Call
from host.rest.embedded import EmbeddedBackend
from host.rest.replies import ReplyError
from tests.programs import end, start

SCOPE = "q"
_START_WITHIN_S = 20


class Store(Protocol):
    """What a test needs of a store. A failed command raises `redis.ResponseError`."""

    name: str

    def command(self, *words: str) -> Any:
        """The reply to a plain command, texts decoded."""

    def script(self, call: Call) -> Answer:
        """What a script answers."""

    def dump(self) -> dict[str, str]:
        """All keys of the scope, to be given to `restore`."""

    def restore(self, dump: dict[str, str]) -> None:
        """Sets the scope back to a dump."""

    def close(self) -> None:
        """Lets go of what the store holds."""


class _Store:
    name = ""

    def command(self, *words: str) -> Any:
        raise NotImplementedError

    def script(self, call: Call) -> Answer:
        try:
            return Answer.read(self.run(call.evalsha()))
        except redis.ResponseError as error:
            if not str(error).startswith("NOSCRIPT") and not isinstance(
                error, redis.exceptions.NoScriptError
            ):
                raise
            return Answer.read(self.run(call.eval()))

    def run(self, words: Sequence[str]) -> Any:
        return self.command(*words)

    def dump(self) -> dict[str, str]:
        kept = ((key, self.raw("DUMP", key)) for key in calls.keys(SCOPE))
        return {key: value.hex() for key, value in kept if value is not None}

    def restore(self, dump: dict[str, str]) -> None:
        self.command("FLUSHALL")
        for key, value in dump.items():
            self.raw("RESTORE", key, "0", bytes.fromhex(value))

    def raw(self, *words: str | bytes) -> Any:
        raise NotImplementedError


def _decoded(reply: Any) -> Any:
    if isinstance(reply, list):
        return [_decoded(item) for item in reply]
    return reply.decode() if isinstance(reply, bytes) else reply


class Embedded(_Store):
    """fakeredis, as the local edge embeds it."""

    name = "embedded"

    def __init__(self) -> None:
        self._backend, self._loop = EmbeddedBackend(), asyncio.new_event_loop()

    def close(self) -> None:
        self._loop.close()

    def command(self, *words: str) -> Any:
        return _decoded(self.raw(*words))

    def raw(self, *words: str | bytes) -> Any:
        command = [word if isinstance(word, bytes) else word.encode() for word in words]
        (reply,) = self._loop.run_until_complete(self._backend.run([command]))
        if isinstance(reply, ReplyError):
            raise redis.ResponseError(reply.text)
        return getattr(reply, "value", reply)


class RealRedis(_Store):
    """A redis-server in cluster mode. Scripts run as a user who may touch the declared keys and no other."""

    name = "redis"

    def __init__(self, port: int) -> None:
        self._admin = _connection(port)
        self._scripts = _connection(port, username="scripts", password="scripts")

    def command(self, *words: str) -> Any:
        return _decoded(self.raw(*words))

    def run(self, words: Sequence[str]) -> Any:
        return _decoded(_ask(self._scripts, *words))

    def raw(self, *words: str | bytes) -> Any:
        return _ask(self._admin, *words)

    def close(self) -> None:
        self._admin.disconnect()
        self._scripts.disconnect()


def _connection(port: int, **login: str) -> Any:
    return redis.Connection(host="127.0.0.1", port=port, protocol=2, **login)  # type: ignore[no-untyped-call]


def _ask(connection: Any, *words: str | bytes) -> Any:
    connection.send_command(*words)
    return connection.read_response()


def free_port() -> int:
    """A port that nobody listens on, with room for the cluster bus (10,000 above) below 65,536."""
    while True:
        with socket.socket() as probe:
            probe.bind(("127.0.0.1", 0))
            port = int(probe.getsockname()[1])
        if port < 55_000:
            return port


def _wait_for(port: int, process: subprocess.Popen[bytes]) -> Any:
    connection = _connection(port)
    for _ in range(_START_WITHIN_S * 20):
        try:
            connection.connect()
            if _ask(connection, "PING") == b"PONG":
                return connection
        except redis.RedisError:
            if process.poll() is not None:
                raise
        time.sleep(0.05)
    raise TimeoutError(f"redis-server did not answer within {_START_WITHIN_S} s")


@contextmanager
def redis_server(program: str, folder: Path) -> Iterator[int]:
    """The port of a redis-server: a cluster of one with all slots, which knows the scripts' user."""
    port = free_port()
    options = {
        "port": port,
        "bind": "127.0.0.1",
        "save": "",
        "appendonly": "no",
        "dir": folder,
        "cluster-enabled": "yes",
        "loglevel": "warning",
    }
    words = [program, *(str(word) for name, value in options.items() for word in (f"--{name}", value))]
    process = start(words, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    try:
        connection = _wait_for(port, process)
        _ask(connection, "CLUSTER", "ADDSLOTSRANGE", "0", "16383")
        may_touch = [f"~{key}" for key in calls.keys(SCOPE)]
        _ask(connection, "ACL", "SETUSER", "scripts", "on", ">scripts", "+@all", "resetkeys", *may_touch)
        while b"cluster_state:ok" not in _ask(connection, "CLUSTER", "INFO"):
            time.sleep(0.05)
        connection.disconnect()
        yield port
    finally:
        end(process)
