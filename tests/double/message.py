"""Requests, answers and bodies as the platform holds them, and the way to a backend."""

from __future__ import annotations

import http.client
import threading
from dataclasses import dataclass, field
from typing import Any
from urllib.parse import urlsplit

Headers = list[tuple[str, bytes]]
_HOP = {"transfer-encoding", "connection", "keep-alive"}


class Body:
    """Bytes that were written, or those of a backend that are still coming."""

    def __init__(self, data: bytes = b"", source: http.client.HTTPResponse | None = None, sock: Any = None) -> None:
        self._data, self._source, self._sock = bytearray(data), source, sock
        self.on_close: Any = None
        self.length: int | None = None if source is not None else len(data)

    def write(self, data: bytes) -> None:
        self._data += data
        self.length = len(self._data)

    def ready(self, timeout_s: float | None) -> bool:
        if self._data or self._source is None:
            return True
        try:
            if self._sock is not None:
                self._sock.settimeout(timeout_s)
            self._data += self._read(65_536)
        except OSError:
            return False
        return True

    def _read(self, size: int) -> bytes:
        assert self._source is not None
        found = self._source.read1(size)
        if not found:
            self._source = None
        return found

    def read(self, size: int) -> bytes:
        if not self._data and self._source is not None:
            return self._read(size)
        found, self._data = bytes(self._data[:size]), self._data[size:]
        return found


@dataclass
class Message:
    """A request or an answer. Names as they came; `uri` is absolute."""

    method: str = "GET"
    uri: str = ""
    status: int = 200
    headers: Headers = field(default_factory=list)
    client: str = "127.0.0.1"

    def values(self, name: str) -> list[bytes]:
        return [value for key, value in self.headers if key.lower() == name.lower()]

    def without(self, name: str) -> Headers:
        return [(key, value) for key, value in self.headers if key.lower() != name.lower()]


@dataclass
class Backend:
    """A named backend: `url`, and the time in which the first byte has to come."""

    url: str
    first_byte_timeout_s: float = 15.0


class Pending:
    """A request under way. `result`: (answer, body), or None when it failed."""

    def __init__(self, backend: Backend, message: Message, body: Body) -> None:
        self._done = threading.Event()
        self.result: tuple[Message, Body] | None = None
        self._thread = threading.Thread(target=self._run, args=(backend, message, body), daemon=True)
        self._thread.start()

    def _run(self, backend: Backend, message: Message, body: Body) -> None:
        try:
            self.result = send(backend, message, body)
        except (OSError, http.client.HTTPException):
            self.result = None
        self._done.set()

    def ready(self, timeout_s: float | None) -> bool:
        return self._done.wait(timeout_s)


def send(backend: Backend, message: Message, body: Body) -> tuple[Message, Body]:
    """Sends a request as it is. Raises OSError or HTTPException."""
    parts = urlsplit(backend.url)
    connection = http.client.HTTPConnection(parts.hostname or "", parts.port, timeout=backend.first_byte_timeout_s)
    rest = message.uri.partition("://")[2]
    cut = min((found for mark in "/?" if (found := rest.find(mark)) >= 0), default=len(rest))
    target = rest[cut:] if rest[cut:].startswith("/") else "/" + rest[cut:]
    connection.putrequest(message.method, target, skip_host=True, skip_accept_encoding=True)
    if not message.values("host"):
        connection.putheader("Host", parts.netloc)
    content = body.read(1 << 30)
    for name, value in message.headers:
        if name.lower() not in _HOP | {"content-length"}:
            connection.putheader(name, value)
    if content or message.values("content-length") or message.values("transfer-encoding"):
        connection.putheader("Content-Length", str(len(content)))
    connection.endheaders(content or None)
    answer = connection.getresponse()
    headers = [(name, value.encode("latin-1")) for name, value in answer.headers.items() if name.lower() not in _HOP]
    return Message(status=answer.status, headers=headers), Body(source=answer, sock=connection.sock)
