"""The embedded Redis: fakeredis in this process, on the one event loop, without threads.

It is what a first try and most tests run on. Its data lives as long as the process. Commands are handed to
fakeredis directly, without a RESP connection in between; nothing in here waits, so one call is atomic by itself.
"""

from __future__ import annotations

import asyncio
import os
from collections.abc import AsyncIterator, Sequence
from contextlib import AbstractAsyncContextManager, asynccontextmanager

from fakeredis import FakeServer

from host.rest.backend import exec_result
from host.rest.embedded_socket import REDIS_VERSION, EmbeddedSocket
from host.rest.replies import Reply, ReplyError
from host.rest.requests import Command

#: A pipeline lets other requests in after so many commands.
_YIELD_EVERY = 256
#: Messages that a slow subscriber may be behind; then its stream ends.
MAX_UNREAD_MESSAGES = 1000


class EmbeddedBackend:
    """Backend inside this process (see `backend.Backend`). It is never away."""

    kind = "embedded"

    def __init__(self) -> None:
        self._run_id = os.urandom(20).hex()
        self._server = FakeServer(version=REDIS_VERSION)
        self._replies: list[Reply] = []
        self._socket: EmbeddedSocket | None = None

    async def start(self) -> None:
        """Nothing to do: the first command opens it."""

    async def close(self) -> None:
        """Forgets the data."""
        self._socket = None
        self._server = FakeServer(version=REDIS_VERSION)

    async def run(self, commands: Sequence[Command]) -> list[Reply]:
        """Runs the commands in order."""
        replies = []
        for index, command in enumerate(commands, 1):
            replies.append(self._one(command))
            if index % _YIELD_EVERY == 0:
                await asyncio.sleep(0)
        return replies

    async def transaction(self, commands: Sequence[Command]) -> list[Reply] | ReplyError:
        """Runs the commands as MULTI and EXEC would."""
        return exec_result([self._one(command) for command in [[b"MULTI"], *commands, [b"EXEC"]]])

    def _one(self, command: Command) -> Reply:
        if self._socket is None:
            self._socket = EmbeddedSocket(self._server, self._replies.append, self._run_id)
        try:
            self._socket.execute(command)
            (reply,) = self._replies
            return reply
        except Exception as error:
            # A fault inside fakeredis is this command's error; a fresh socket forgets any half-open state.
            self._socket = None
            return ReplyError(f"ERR the embedded Redis failed at {command[0][:40]!r}: {type(error).__name__}: {error}")
        finally:
            self._replies.clear()

    def subscribe(self, command: Command) -> AbstractAsyncContextManager[AsyncIterator[list[Reply]]]:
        """Messages of the channels. The stream ends when the reader falls MAX_UNREAD_MESSAGES behind."""

        @asynccontextmanager
        async def messages() -> AsyncIterator[AsyncIterator[list[Reply]]]:
            unread: asyncio.Queue[Reply] = asyncio.Queue(MAX_UNREAD_MESSAGES)

            def deliver(reply: Reply) -> None:
                if unread.full():
                    unread.get_nowait()
                    reply = None
                unread.put_nowait(reply)

            async def stream() -> AsyncIterator[list[Reply]]:
                while isinstance(message := await unread.get(), list):
                    yield message

            socket = EmbeddedSocket(self._server, deliver, self._run_id)
            socket.execute(command)
            try:
                yield stream()
            finally:
                socket.execute([b"UNSUBSCRIBE"])
                socket.execute([b"PUNSUBSCRIBE"])
                socket.close()

        return messages()
