"""One request and its answer on a connection: like uvicorn's cycle, but it writes what it is given.

Header names keep their spelling, a 304 keeps its Content-Length, an HTTP/1.0 client gets no chunks, and an
answer that breaks off is broken off on the wire instead of being finished.
"""

from __future__ import annotations

import asyncio
import http
import socket
import struct
import time
from collections.abc import Callable
from email.utils import formatdate
from typing import Any

from uvicorn.protocols.http.httptools_impl import RequestResponseCycle

# A visitor that takes nothing for this long holds a connection to the origin for nothing.
CLIENT_STALL_S = 120.0
_PHRASES = {status.value: status.phrase.encode() for status in http.HTTPStatus}
_NO_BODY = frozenset((204, 304))


class Exchange(RequestResponseCycle):
    """What the protocol hands to the app in `scope["extensions"]["stanchion"]`.

    `target` is the request target as it was sent, `names` the header names as sent, `upgrade` the Upgrade
    header of a request that asks for one. `on_gone` is called once when the visitor goes away before the
    answer is complete. `lingering_close` ends the connection without cutting off what the visitor is still
    sending.
    """

    def __init__(self, target: bytes, names: list[bytes], upgrade: bytes | None, **cycle: Any) -> None:
        super().__init__(**cycle)
        self.target = target
        self.names = names
        self.upgrade = upgrade
        self.on_gone: Callable[[], object] | None = None
        self.lingering_close: Callable[[], None] = self.transport.close
        self._bare = False
        self._until_close = False

    def leave(self) -> None:
        """The visitor is gone."""
        if self.disconnected or self.response_complete:
            return
        self.disconnected = True
        self.message_event.set()
        if self.on_gone is not None:
            self.on_gone()

    def abort(self) -> None:
        """Breaks the connection off, so that an unfinished answer cannot be taken for a whole one."""
        if self.transport.is_closing():
            return
        if self._until_close:
            # The end of the connection would mean the end of the body: only a reset says that it is none.
            sock = self.transport.get_extra_info("socket")
            sock.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
        self.transport.abort()
        # The loop says so only later; until then the app must not go on writing into nothing.
        self.disconnected = True

    async def run_asgi(self, app: Any) -> None:
        """Runs the app; an answer that it leaves unfinished is broken off."""
        try:
            await app(self.scope, self.receive, self.send)
        finally:
            # Cancelled at shutdown, or the app gave up: what was begun must not look finished.
            if not self.response_complete and not self.disconnected:
                self.abort()
            self.on_response = _nothing
            # Without this ring the request is freed at once instead of by the garbage collector.
            self.scope.pop("extensions", None)

    async def send(self, message: Any) -> None:
        """Writes an ASGI message, once the visitor has taken what was written before."""
        if self.flow.write_paused and not self.disconnected:
            await self._drain()
        if self.disconnected:
            return
        if not self.response_started:
            self._start(message["status"], message["headers"], message.get("reason"))
        else:
            self._write_body(message.get("body", b""), message.get("more_body", False))

    async def _drain(self) -> None:
        try:
            async with asyncio.timeout(CLIENT_STALL_S):
                await self.flow.drain()
        except TimeoutError:
            gone, self.on_gone = self.on_gone, None
            self.abort()
            if gone is not None:
                gone()

    def _start(self, status: int, headers: list[tuple[bytes, bytes]], reason: bytes | None) -> None:
        self.response_started = True
        if self.waiting_for_100_continue and self.more_body:
            # Nobody asked for the body, and whether the visitor sends it all the same cannot be known.
            self.keep_alive = False
        self.waiting_for_100_continue = False
        self._bare = self.scope["method"] == "HEAD" or status in _NO_BODY
        given = {name.lower() for name, _ in headers}
        framing = []
        if not self._bare and b"content-length" not in given:
            if self.scope["http_version"] == "1.1":
                self.chunked_encoding = True
                framing.append((b"transfer-encoding", b"chunked"))
            else:
                self._until_close = True
                self.keep_alive = False
        if not self.keep_alive:
            framing.append((b"connection", b"close"))
        self.transport.write(status_head(status, reason, [*headers, *framing]))

    def _write_body(self, body: bytes, more_body: bool) -> None:
        if body and not self._bare:
            self.transport.write(b"%x\r\n%b\r\n" % (len(body), body) if self.chunked_encoding else body)
        if more_body:
            return
        if self.chunked_encoding:
            self.transport.write(b"0\r\n\r\n")
        self.response_complete = True
        self.message_event.set()
        if not self.keep_alive:
            self._close()
        self.on_response()

    def _close(self) -> None:
        if self.more_body:
            self.lingering_close()
        else:
            self.transport.close()


def _nothing() -> None:
    return


def status_head(status: int, reason: bytes | None, headers: list[tuple[bytes, bytes]]) -> bytes:
    """The head of an answer as it goes over the wire, with a Date if none is given.

    `reason` None takes the usual phrase of the status.
    """
    phrase = reason if reason is not None else _PHRASES.get(status, b"")
    parts = [b"HTTP/1.1 %d %b\r\n" % (status, phrase)]
    parts += [b"%b: %b\r\n" % header for header in headers]
    if not any(name.lower() == b"date" for name, _ in headers):
        parts.append(b"date: %b\r\n" % http_date())
    parts.append(b"\r\n")
    return b"".join(parts)


_date: tuple[int, bytes] = (0, b"")


def http_date() -> bytes:
    """The time of this second as HTTP writes it."""
    global _date
    now_s = int(time.time())
    if _date[0] != now_s:
        _date = (now_s, formatdate(now_s, usegmt=True).encode())
    return _date[1]
