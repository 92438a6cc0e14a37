"""Subscriptions as server-sent events: GET or POST /subscribe/<channel>/... and /psubscribe/<pattern>/...

Each message is one event whose data is its parts joined by commas: `subscribe,chat,1`, then
`message,chat,hello` (Upstash, "REST API", Subscribe & Publish).
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable, MutableMapping
from typing import Any

from host.rest.backend import Backend
from host.rest.replies import Reply, ReplyError, to_json
from host.rest.requests import Command

#: A comment line at this interval keeps proxies from closing a silent stream.
KEEP_ALIVE_S = 15.0
#: Each stream holds one connection to Redis.
MAX_STREAMS = 64

Send = Callable[[MutableMapping[str, Any]], Awaitable[None]]
Receive = Callable[[], Awaitable[MutableMapping[str, Any]]]


def event(message: list[Reply]) -> bytes:
    """The message as one event; a line break inside starts another data line, as event streams want it."""
    text = ",".join(str(to_json(part, base64=False)) for part in message)
    return "".join(f"data: {line}\n" for line in text.splitlines() or [""]).encode("utf-8", "replace") + b"\n"


class Streams:
    """The open subscriptions of one app."""

    def __init__(self, backend: Backend) -> None:
        self._backend = backend
        self._open = 0
        self._closing = asyncio.Event()

    def close(self) -> None:
        """Ends every stream, so that the server can stop."""
        self._closing.set()

    async def serve(
        self, command: Command, receive: Receive, send: Send, headers: list[tuple[bytes, bytes]]
    ) -> ReplyError | None:
        """Streams until the client leaves, Redis ends it or the server stops.

        An error before the first byte is returned. Raises BackendAway when no connection for it can be made.
        """
        if self._open >= MAX_STREAMS:
            return ReplyError(f"ERR too many subscriptions: at most {MAX_STREAMS} at a time")
        self._open += 1
        try:
            async with self._backend.subscribe(command) as messages:
                await send({"type": "http.response.start", "status": 200, "headers": headers})
                await self._pump(messages, receive, send)
                await send({"type": "http.response.body", "body": b""})
        finally:
            self._open -= 1
        return None

    async def _pump(self, messages: AsyncIterator[list[Reply]], receive: Receive, send: Send) -> None:
        gone: list[asyncio.Future[Any]] = [
            asyncio.ensure_future(_disconnected(receive)),
            asyncio.ensure_future(self._closing.wait()),
        ]
        following: asyncio.Future[Any] = asyncio.ensure_future(anext(messages))
        try:
            while True:
                await asyncio.wait([following, *gone], timeout=KEEP_ALIVE_S, return_when=asyncio.FIRST_COMPLETED)
                if any(task.done() for task in gone):
                    return
                if not following.done():
                    await send({"type": "http.response.body", "body": b":\n\n", "more_body": True})
                    continue
                try:
                    message = following.result()
                except Exception:
                    return  # Redis ended the stream; the client subscribes again
                await send({"type": "http.response.body", "body": event(message), "more_body": True})
                following = asyncio.ensure_future(anext(messages))
        finally:
            for task in (following, *gone):
                task.cancel()
            await asyncio.gather(following, *gone, return_exceptions=True)


async def _disconnected(receive: Receive) -> None:
    while (await receive())["type"] != "http.disconnect":
        pass
