"""Pooled connections whose cost does not grow with their number.

The HTTP library's own pool looks at every connection before and after each request, and polls the idle
ones; with a thousand event streams open that costs more than the request. Here each connection is a pool of
one, and the one used last is used next.
"""

from __future__ import annotations

import asyncio
import importlib.util
import ssl
import sys
import time
from collections import deque
from collections.abc import AsyncIterator, Callable
from types import ModuleType
from typing import cast

import httpx

if "sniffio" not in sys.modules and importlib.util.find_spec("sniffio") is None:
    # The library tries to import it on every lock, and a module that is not there is searched for each
    # time: half the time of a request. None in this table ends the search at once (Python reference, "The
    # module cache").
    sys.modules["sniffio"] = cast(ModuleType, None)


class Connections(httpx.AsyncBaseTransport):
    """At most `limit` connections; idle ones are kept for `keepalive_s`.

    A request that finds none free waits for the `pool` time of its timeouts, then httpx.PoolTimeout is
    raised.
    """

    def __init__(self, limit: int, keepalive_s: float, now_s: Callable[[], float] = time.monotonic) -> None:
        self._free = asyncio.Semaphore(limit)
        self._limits = httpx.Limits(
            max_connections=1, max_keepalive_connections=1, keepalive_expiry=keepalive_s
        )
        self._keepalive_s = keepalive_s
        self._now_s = now_s
        self._idle: deque[tuple[httpx.AsyncHTTPTransport, float]] = deque()
        self._ssl: ssl.SSLContext | None = None
        self._closing: set[asyncio.Task[None]] = set()

    async def handle_async_request(self, request: httpx.Request) -> httpx.Response:
        """Sends a request on a free connection; closing the response gives it back."""
        await self._enter(request.extensions["timeout"]["pool"])
        transport = self._idle.pop()[0] if self._idle else self._new()
        try:
            response = await transport.handle_async_request(request)
        except BaseException:
            self._leave(transport)
            raise
        inner = response.stream
        assert isinstance(inner, httpx.AsyncByteStream)
        response.stream = _Borrowed(inner, lambda: self._leave(transport))
        return response

    async def _enter(self, wait_s: float) -> None:
        try:
            async with asyncio.timeout(wait_s):
                await self._free.acquire()
        except TimeoutError:
            raise httpx.PoolTimeout(f"no connection became free within {wait_s} s") from None

    def _new(self) -> httpx.AsyncHTTPTransport:
        # Loading the certificates takes as long as a hundred requests: once for all connections.
        self._ssl = self._ssl or httpx.create_ssl_context()
        return httpx.AsyncHTTPTransport(verify=self._ssl, limits=self._limits)

    def _leave(self, transport: httpx.AsyncHTTPTransport) -> None:
        self._free.release()
        now_s = self._now_s()
        self._idle.append((transport, now_s))
        while now_s - self._idle[0][1] > self._keepalive_s:
            task = asyncio.ensure_future(self._idle.popleft()[0].aclose())
            self._closing.add(task)
            task.add_done_callback(self._closing.discard)

    async def aclose(self) -> None:
        """Closes the idle connections; those in use are closed by whoever uses them."""
        while self._idle:
            await self._idle.pop()[0].aclose()


class _Borrowed(httpx.AsyncByteStream):
    """The body of a response, which gives its connection back when it is closed."""

    def __init__(self, inner: httpx.AsyncByteStream, give_back: Callable[[], None]) -> None:
        self._inner = inner
        self._give_back: Callable[[], None] | None = give_back

    def __aiter__(self) -> AsyncIterator[bytes]:
        return self._inner.__aiter__()

    async def aclose(self) -> None:
        give_back, self._give_back = self._give_back, None
        if give_back is None:
            return
        try:
            await self._inner.aclose()
        finally:
            give_back()
