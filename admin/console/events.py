"""What moves on a page, as server-sent events: everything at first, then what has changed, once a second.

A stream ends after STREAM_S, so that the browser connects again and its session is checked anew. A page that can have no stream
asks once a second instead (console.js).
"""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator, Awaitable, Callable
from typing import Any

from sse_starlette import EventSourceResponse, ServerSentEvent
from starlette.responses import Response

EVERY_S = 1.0
STREAM_S = 120.0
RETRY_MS = 1000
STREAMS_AT_MOST = 200
# So soon a stream ends when its session has.
ASK_AGAIN_S = 5.0
Look = Callable[[], Awaitable[dict[str, Any]]]
MayGoOn = Callable[[], Awaitable[bool]]
_MERGED = ("text", "attr", "hidden")


class Streams:
    """Counts the open streams of an app: more than STREAMS_AT_MOST are sent away, to ask instead."""

    def __init__(self) -> None:
        self.open = 0

    def answer(self, look: Look, may_go_on: MayGoOn) -> Response:
        """The stream of what `look` answers while who listens may; 503 when there are too many."""
        if self.open >= STREAMS_AT_MOST:
            return Response(status_code=503, headers={"Retry-After": "5"})
        headers = {"Cache-Control": "no-store", "X-Accel-Buffering": "no"}
        return EventSourceResponse(self._events(look, may_go_on), headers=headers, ping=15)

    async def _events(self, look: Look, may_go_on: MayGoOn) -> AsyncIterator[ServerSentEvent]:
        self.open += 1
        clock = asyncio.get_running_loop().time
        ends_s, asked_s = clock() + STREAM_S, clock()
        told: dict[str, Any] = {}
        try:
            while clock() < ends_s:
                began_s = clock()
                if began_s - asked_s >= ASK_AGAIN_S:
                    asked_s = began_s
                    if not await may_go_on():
                        return
                now = await look()
                yield ServerSentEvent(json.dumps(changes(told, now)), retry=None if told else RETRY_MS)
                told = now
                await asyncio.sleep(max(0.1, EVERY_S - (clock() - began_s)))
        finally:
            self.open -= 1


def changes(told: dict[str, Any], now: dict[str, Any]) -> dict[str, Any]:
    """What is to be said after `told`: of texts, attributes and what is hidden those that differ, of the rest what differs."""
    said: dict[str, Any] = {"shape": now["shape"], "stale": now["stale"]}
    for name, value in now.items():
        before = told.get(name)
        if name in _MERGED:
            known = before or {}
            said[name] = {key: each for key, each in value.items() if known.get(key) != each}
        elif value != before:
            said[name] = value
    return said
