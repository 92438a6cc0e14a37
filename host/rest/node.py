"""One Redis server: a small pool of redis-py connections that carry raw RESP2.

redis-py brings the connection (TLS, login, database, unix socket). Its clients are not used: they turn
replies into Python values and take the code off an error text, and this protocol has to hand both on as they
came.
"""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from contextlib import suppress
from typing import Any

from redis._parsers import _AsyncRESP2Parser
from redis.asyncio.connection import AbstractConnection, Connection
from redis.asyncio.retry import Retry
from redis.backoff import NoBackoff
from redis.exceptions import AuthenticationError, InvalidResponse, RedisError

from host.rest.backend import BackendAway
from host.rest.replies import Reply, ReplyError, Status
from host.rest.requests import Command

CONNECT_TIMEOUT_S = 1.0
#: From the first byte sent to the last reply read, and also the longest wait for a free connection. After it
#: the command may or may not have run; the error says so.
COMMAND_TIMEOUT_S = 2.0
#: Each is busy only while a request is on its way to Redis and back.
MAX_CONNECTIONS = 32
_IN_DOUBT = "the command may or may not have run"


class RawParser(_AsyncRESP2Parser):
    """RESP2 without interpretation: an error is a value with its whole text, a simple string is a Status."""

    async def _read_response(self, disable_decoding: bool = False) -> Any:
        line = await self._readline()
        kind, rest = line[:1], line[1:]
        if kind == b"$":
            return None if rest == b"-1" else await self._read(int(rest))
        if kind == b":":
            return int(rest)
        if kind == b"+":
            return Status(rest)
        if kind == b"*":
            return None if rest == b"-1" else [await self._read_response(disable_decoding) for _ in range(int(rest))]
        if kind == b"-":
            return ReplyError(rest.decode("utf-8", "replace"))
        raise InvalidResponse(f"not RESP2: {line[:80]!r}")


def pack(commands: Sequence[Command]) -> bytes:
    """The commands as they travel on the wire, one after the other."""
    parts: list[bytes] = []
    for command in commands:
        parts.append(b"*%d\r\n" % len(command))
        parts += [b"$%d\r\n%b\r\n" % (len(word), word) for word in command]
    return b"".join(parts)


class Node:
    """A server at one address. Safe for concurrent use within one event loop."""

    def __init__(self, name: str, connection_class: type[AbstractConnection], options: dict[str, Any]) -> None:
        self.name = name
        self._connection_class = connection_class
        self._options = options
        self._idle: list[AbstractConnection] = []
        self._slots = asyncio.Semaphore(MAX_CONNECTIONS)

    async def exchange(self, commands: Sequence[Command]) -> list[Reply]:
        """Sends the commands in one write and reads one reply for each.

        Raises BackendAway when no connection can be made or free in time, or when it ends or stays silent
        midway.
        """
        try:
            async with asyncio.timeout(COMMAND_TIMEOUT_S):
                await self._slots.acquire()
        except TimeoutError:
            raise BackendAway(f"Redis at {self.name}: all {MAX_CONNECTIONS} connections are busy") from None
        try:
            return await self._exchange(commands)
        finally:
            self._slots.release()

    async def _exchange(self, commands: Sequence[Command]) -> list[Reply]:
        connection = await self._connected()
        try:
            async with asyncio.timeout(COMMAND_TIMEOUT_S):
                await connection.send_packed_command(pack(commands), check_health=False)
                replies = [await connection.read_response(disable_decoding=True) for _ in commands]
        except TimeoutError:
            await self._drop(connection)
            raise BackendAway(f"Redis at {self.name} did not answer within {COMMAND_TIMEOUT_S:g} s; {_IN_DOUBT}") from None
        except (OSError, RedisError) as error:
            # The others most likely died with it; a fresh start is cheaper than one failure for each.
            await self._drop(connection)
            await self.close()
            raise BackendAway(f"Redis at {self.name} closed the connection; {_IN_DOUBT} ({_reason(error)})") from None
        except BaseException:
            # A reply that nobody read would be taken for the next command's.
            await self._drop(connection)
            raise
        if any(isinstance(reply, ReplyError) and reply.text.startswith("READONLY ") for reply in replies):
            # The primary was demoted: a new connection looks the name up again and may find the new one.
            await self._drop(connection)
            await self.close()
        else:
            self._idle.append(connection)
        return replies

    async def dedicated(self) -> AbstractConnection:
        """A new connection outside the pool, for a subscription; the caller ends it. Raises BackendAway."""
        return await self._connect()

    async def close(self) -> None:
        """Closes the idle connections. The node stays usable."""
        idle, self._idle = self._idle, []
        for connection in idle:
            await self._drop(connection)

    async def _connected(self) -> AbstractConnection:
        while self._idle:
            connection = self._idle.pop()
            # True also when the server has closed it: then reading would find the end.
            if connection.is_connected and not await connection.can_read():
                return connection
            await self._drop(connection)
        return await self._connect()

    async def _connect(self) -> AbstractConnection:
        connection = self._connection_class(**self._options)
        try:
            async with asyncio.timeout(CONNECT_TIMEOUT_S):
                await connection.connect()  # type: ignore[no-untyped-call]
        except AuthenticationError:
            await self._drop(connection)
            raise BackendAway(f"Redis at {self.name} refused the user name or password") from None
        except TimeoutError:
            await self._drop(connection)
            raise BackendAway(f"Redis at {self.name} did not accept a connection within {CONNECT_TIMEOUT_S:g} s") from None
        except (OSError, RedisError) as error:
            await self._drop(connection)
            raise BackendAway(f"Redis at {self.name} cannot be reached ({_reason(error)})") from None
        return connection

    async def _drop(self, connection: AbstractConnection) -> None:
        with suppress(OSError, RedisError, TimeoutError):  # it is gone either way
            await connection.disconnect(nowait=True)


def connection_options(options: dict[str, Any]) -> dict[str, Any]:
    """Options of a redis-py connection for raw RESP2, over whatever the URL said.

    Timeouts are set by Node around a whole exchange, and nothing is retried: whether a command may be sent
    twice is for the client to know.
    """
    fixed = {
        "protocol": 2,
        "parser_class": RawParser,
        "socket_timeout": None,
        "socket_connect_timeout": CONNECT_TIMEOUT_S,
        "retry": Retry(NoBackoff(), 0),
        "driver_info": None,
        "decode_responses": False,
        "health_check_interval": 0,
    }
    return {**options, **fixed}


def tcp_node(host: str, port: int, connection_class: type[AbstractConnection], options: dict[str, Any]) -> Node:
    """A node at another address with the same login and TLS settings."""
    return Node(f"{host}:{port}", connection_class or Connection, {**options, "host": host, "port": port})


def _reason(error: BaseException) -> str:
    text = str(error).strip() or type(error).__name__
    return text if len(text) <= 200 else text[:200] + "..."
