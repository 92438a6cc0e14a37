"""uvicorn's HTTP/1.1 protocol, made fit for a gate that must see and pass on exactly what was sent.

It keeps the raw request target and the spelling of header names, bounds the head in size and time, knows
every request in progress on the connection, and refuses what is not HTTP by a sentence instead of a reset.
"""

from __future__ import annotations

import asyncio
from typing import Any, cast

import httptools
from uvicorn.protocols.http.httptools_impl import HttpToolsProtocol

from host.edge import builtin
from host.edge.builtin import BuiltIn, built_in
from host.edge.exchange import Exchange, status_head

# 32 KB of headers, and 1 KB for those that every request has.
MAX_HEADER_BYTES = 33 * 1024
MAX_TARGET_BYTES = 16 * 1024
HEAD_TIMEOUT_S = 30.0
# How long a refused visitor may go on sending before the connection is cut: a reset would destroy the answer.
LINGER_S = 2.0
# "name: value\r\n"
_FIELD_OVERHEAD_BYTES = 4


class EdgeProtocol(HttpToolsProtocol):
    """One connection."""

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self._names: list[bytes] = []
        self._header_bytes = 0
        self._fed_bytes = 0
        self._head_is_new = False
        self._in_head = False
        self._in_body = False
        self._deaf = False
        self._refusal: BuiltIn | None = None
        self._head_timer: asyncio.TimerHandle | None = None
        self._running: Exchange | None = None

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        """A visitor has connected; the first head has to come in time."""
        super().connection_made(transport)
        self._expect_head()

    def connection_lost(self, exc: Exception | None) -> None:
        """The visitor is gone: ends the request in progress and forgets those behind it."""
        """A visitor has connected; the first head has to come in time."""
        self._forget_head_timer()
        self._unset_keepalive_if_required()
        self.pipeline.clear()
        if self._running is not None:
            self._running.leave()
        super().connection_lost(exc)

    def data_received(self, data: bytes) -> None:
        """Parses what came, and refuses what is not HTTP."""
        if self._deaf:
            return
        self._unset_keepalive_if_required()
        self._head_is_new = False
        try:
            self.parser.feed_data(data)
        except httptools.HttpParserUpgrade:
            # What follows is in a protocol that is not spoken here; the answer closes the connection.
            self._deaf = True
            self._message_ended()
        except httptools.HttpParserInvalidMethodError:
            self._refuse(built_in(501, builtin.UNKNOWN_METHOD))
        except httptools.HttpParserInvalidURLError:
            self._refuse(built_in(400, builtin.BAD_TARGET))
        except httptools.HttpParserError:
            self._refuse(self._refusal or built_in(400, builtin.BAD_REQUEST))
        else:
            self._bound_head(len(data))

    def _bound_head(self, fed_bytes: int) -> None:
        """Bounds a head that does not end. The piece in which it began is not counted: it may hold more."""
        if not self._in_head:
            return
        self._expect_head()
        self._fed_bytes += 0 if self._head_is_new else fed_bytes
        if self._fed_bytes > MAX_HEADER_BYTES + MAX_TARGET_BYTES:
            self._refuse(built_in(431, builtin.LARGE_HEAD))

    def on_message_begin(self) -> None:
        """A request begins."""
        super().on_message_begin()
        self._names = []
        self._header_bytes = self._fed_bytes = 0
        self._in_head = self._head_is_new = True

    def on_url(self, url: bytes) -> None:
        """A piece of the request target."""
        super().on_url(url)
        if len(self.url) > MAX_TARGET_BYTES:
            self._stop(built_in(414, builtin.LONG_TARGET))

    def on_header(self, name: bytes, value: bytes) -> None:
        """A header, or behind the body a trailer, which is dropped."""
        if not self._in_head:
            # A trailer: it came after the decision and must not pass for a header.
            return
        self._header_bytes += len(name) + len(value) + _FIELD_OVERHEAD_BYTES
        if self._header_bytes > MAX_HEADER_BYTES:
            self._stop(built_in(431, builtin.LARGE_HEAD))
        self._names.append(name)
        super().on_header(name, value.strip(b" \t"))

    def _stop(self, answer: BuiltIn) -> None:
        self._refusal = answer
        raise ValueError(answer.status)

    def on_headers_complete(self) -> None:
        """The head is whole: starts the request, or puts it behind the one in progress."""
        self._in_head, self._in_body = False, True
        self._forget_head_timer()
        before = self.cycle
        self.cycle = exchange = self._exchange()
        if before is None or before.response_complete:
            self._start_asgi_task(exchange, self.app)
        else:
            self.flow.pause_reading()
            self.pipeline.appendleft((exchange, self.app))

    def _exchange(self) -> Exchange:
        version = self.parser.get_http_version()
        upgrade = self.parser.should_upgrade()
        exchange = Exchange(
            target=self.url,
            names=self._names,
            upgrade=dict(self.headers).get(b"upgrade", b"") if upgrade else None,
            scope=self.scope,
            transport=self.transport,
            flow=self.flow,
            logger=self.logger,
            access_logger=self.access_logger,
            access_log=False,
            default_headers=[],
            message_event=asyncio.Event(),
            expect_100_continue=self.expect_100_continue and version == "1.1",
            keep_alive=version == "1.1" and self.parser.should_keep_alive() and not upgrade,
            on_response=self.on_response_complete,
        )
        exchange.lingering_close = self._linger
        self.scope["method"] = self.parser.get_method().decode("ascii")
        self.scope["http_version"] = version
        self.scope["extensions"] = cast(Any, {"stanchion": exchange})
        return exchange

    def _start_asgi_task(self, cycle: Any, app: Any) -> None:
        self._running = cycle
        super()._start_asgi_task(cycle, app)

    def on_message_complete(self) -> None:
        """The body is whole."""
        self._message_ended()
        if self.cycle.response_complete and not self.transport.is_closing():
            self._expect_head()

    def _message_ended(self) -> None:
        self._in_body = False
        self.cycle.more_body = False
        self.cycle.message_event.set()

    def shutdown(self) -> None:
        """Closes an idle connection; a request in progress becomes the last one."""
        self.pipeline.clear()
        if self._running is None or self._running.response_complete:
            self.transport.close()
        else:
            self._running.keep_alive = False

    def _refuse(self, answer: BuiltIn) -> None:
        """Answers what cannot be parsed; an answer that is under way is finished, or broken off."""
        self._deaf = True
        self._forget_head_timer()
        running = self._running
        if running is not None and not running.response_complete:
            if not self._in_body or self.pipeline:
                # The fault is in a later request: the answer to this one still goes out.
                running.keep_alive = False
                self.pipeline.clear()
                return
            if running.response_started:
                running.abort()
                return
            running.leave()
        length = (b"content-length", b"%d" % len(answer.body))
        headers = [*answer.headers, length, (b"connection", b"close")]
        self.transport.write(status_head(answer.status, None, headers) + answer.body)
        self._linger()

    def _linger(self) -> None:
        self._deaf = True
        self.pipeline.clear()
        self.flow.resume_reading()
        if self.transport.can_write_eof():
            self.transport.write_eof()
        self.loop.call_later(LINGER_S, self.transport.close)

    def _expect_head(self) -> None:
        if self._head_timer is None:
            self._head_timer = self.loop.call_later(HEAD_TIMEOUT_S, self._head_is_late)

    def _forget_head_timer(self) -> None:
        if self._head_timer is not None:
            self._head_timer.cancel()
            self._head_timer = None

    def _head_is_late(self) -> None:
        self._head_timer = None
        if self._in_head:
            self._refuse(built_in(408, builtin.SLOW_HEAD))
        elif not self.transport.is_closing() and (self._running is None or self._running.response_complete):
            self.transport.close()
