"""The origin: one request out, one answer back, both streamed; failures mapped to answers in one table."""

from __future__ import annotations

from collections.abc import AsyncIterator
from types import TracebackType

import httpx

from host.edge import builtin
from host.edge.connections import Connections
from host.edge.target import Refused

CONNECT_TIMEOUT_S = 5.0
WRITE_TIMEOUT_S = 30.0
# Time to the first byte of an answer.
ANSWER_TIMEOUT_S = 60.0
# Between two pieces of an answer that has begun; event streams may be silent for long.
SILENCE_TIMEOUT_S = 600.0
POOL_TIMEOUT_S = 5.0
MAX_CONNECTIONS = 1_000
# Shorter than servers keep idle connections (5 s is a common default), so that they rarely close one under
# a request.
KEEPALIVE_S = 4.0
# RFC 9110, section 9.2.2: may be repeated when a reused connection turns out to be closed.
_REPEATABLE = frozenset(("GET", "HEAD", "OPTIONS"))

# The first matching row counts.
_FAILURES: tuple[tuple[type[Exception], int, str], ...] = (
    (httpx.PoolTimeout, 503, builtin.FULL_ORIGIN),
    (httpx.TimeoutException, 504, builtin.SLOW_ORIGIN),
    (httpx.LocalProtocolError, 400, builtin.BAD_HEADER),
    (httpx.RemoteProtocolError, 502, builtin.BROKEN_ORIGIN),
    (httpx.TransportError, 502, builtin.NO_ORIGIN),
    (OSError, 502, builtin.NO_ORIGIN),
)


class OriginFailed(Refused):
    """The origin gave no answer that can be passed on. `reason` is for the log."""

    def __init__(self, status: int, sentence: str, reason: str) -> None:
        super().__init__(status, sentence)
        self.reason = reason


class Body(httpx.AsyncByteStream):
    """A request body that is read piece by piece as the origin takes it."""

    def __init__(self, pieces: AsyncIterator[bytes]) -> None:
        self._pieces = pieces

    def __aiter__(self) -> AsyncIterator[bytes]:
        return self._pieces


class Answer:
    """An answer that has begun: `status`, `reason`, `headers` as they came; `pieces` is the body, undecoded.

    Use it as an async context manager, so that the connection is given back or closed.
    """

    def __init__(self, response: httpx.Response) -> None:
        self._response = response
        self.status = response.status_code
        self.reason: bytes | None = response.extensions.get("reason_phrase")
        self.headers = response.headers.raw

    async def pieces(self) -> AsyncIterator[bytes]:
        """The body. Raises OriginFailed when it breaks off."""
        stream = self._response.stream
        assert isinstance(stream, httpx.AsyncByteStream)
        try:
            async for piece in stream:
                yield piece
        except (httpx.TransportError, OSError) as error:
            raise _failed(error) from error

    async def __aenter__(self) -> Answer:
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        await self._response.aclose()


class Origin:
    """Connections to one origin, `url` being its scheme, host and port. Nothing is added to a request."""

    def __init__(self, url: str, transport: httpx.AsyncBaseTransport | None = None) -> None:
        self._url = httpx.URL(url)
        self._transport = transport or Connections(MAX_CONNECTIONS, KEEPALIVE_S)

    @property
    def authority(self) -> bytes:
        """The host, with the port if it is not the scheme's own, as a Host header has it."""
        return self._url.netloc

    async def ask(
        self, method: str, target: bytes, headers: list[tuple[bytes, bytes]], body: Body | None
    ) -> Answer:
        """Sends a request; answers when the head of the response is there. Raises OriginFailed."""
        try:
            return await self._ask_once(method, target, headers, body)
        except (httpx.ReadError, httpx.WriteError, httpx.RemoteProtocolError) as error:
            if body is not None or method not in _REPEATABLE:
                raise _failed(error) from error
        except (httpx.TransportError, OSError) as error:
            raise _failed(error) from error
        try:
            return await self._ask_once(method, target, headers, None)
        except (httpx.TransportError, OSError) as error:
            raise _failed(error) from error

    async def _ask_once(
        self, method: str, target: bytes, headers: list[tuple[bytes, bytes]], body: Body | None
    ) -> Answer:
        timeout = {
            "connect": CONNECT_TIMEOUT_S,
            "write": WRITE_TIMEOUT_S,
            "read": ANSWER_TIMEOUT_S,
            "pool": POOL_TIMEOUT_S,
        }
        request = httpx.Request(
            method,
            self._url,
            headers=headers,
            stream=body or httpx.ByteStream(b""),
            extensions={"timeout": timeout, "target": target},
        )
        response = await self._transport.handle_async_request(request)
        # The transport reads this mapping again when the body is read.
        timeout["read"] = SILENCE_TIMEOUT_S
        if response.status_code < 200:
            await response.aclose()
            raise httpx.RemoteProtocolError(f"status {response.status_code} without a request to upgrade")
        return Answer(response)

    async def close(self) -> None:
        """Closes the idle connections."""
        await self._transport.aclose()


def _failed(error: Exception) -> OriginFailed:
    reason = f"{type(error).__name__}: {error}".removesuffix(": ")
    for kind, status, sentence in _FAILURES:
        if isinstance(error, kind):
            return OriginFailed(status, sentence, reason)
    return OriginFailed(502, builtin.NO_ORIGIN, reason)
