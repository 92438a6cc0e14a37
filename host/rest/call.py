"""One HTTP request as the door sees it: what its head says, and its body within the limit."""

from __future__ import annotations

from collections.abc import MutableMapping
from typing import Any

from host.rest.requests import MAX_REQUEST_BYTES, query_pairs, too_large
from host.rest.sse import Receive

Scope = MutableMapping[str, Any]


class Answer(Exception):
    """An answer that is reached early."""

    def __init__(self, status: int, error: str) -> None:
        super().__init__(error)
        self.status = status


class Call:
    """What the head of one request says."""

    __slots__ = ("base64", "content_length", "query", "resp2", "token")

    def __init__(self, scope: Scope) -> None:
        self.token = b""
        self.content_length = 0
        encoding = response_format = b""
        for name, value in scope["headers"]:
            if name == b"authorization":
                self.token = value[7:].strip() if value[:7].lower() == b"bearer " else b""
            elif name == b"upstash-encoding":
                encoding = value.strip().lower()
            # The second spelling is the one in the documentation's own example.
            elif name in (b"upstash-response-format", b"upstash-reponse-format"):
                response_format = value.strip().lower()
            elif name == b"content-length" and value.isdigit():
                self.content_length = int(value)
        query_string = scope["query_string"]
        self.query = query_pairs(query_string) if query_string else []
        if not self.token:
            self.token = next((value for name, value in self.query if name == b"_token"), b"")
        self.base64 = _choice(b"Upstash-Encoding", encoding, b"base64", b"")
        self.resp2 = _choice(b"Upstash-Response-Format", response_format, b"resp2", b"json")
        if self.base64 and self.resp2:
            raise Answer(400, "ERR Upstash-Encoding: base64 and Upstash-Response-Format: resp2 exclude each other")


def _choice(header: bytes, value: bytes, on: bytes, off: bytes) -> bool:
    if value not in (on, off, b""):
        raise Answer(400, f"ERR {header.decode()} must be {on.decode()}, not {value.decode('latin-1')[:40]}")
    return value == on


async def read_body(receive: Receive, announced_bytes: int) -> bytes:
    """The whole body. Raises Answer when it is, or says that it is, over the limit."""
    if announced_bytes > MAX_REQUEST_BYTES:
        raise Answer(400, too_large(announced_bytes))
    chunks: list[bytes] = []
    size, more = 0, True
    while more:
        message = await receive()
        if message["type"] == "http.disconnect":
            raise Answer(400, "ERR the request ended before its body did")
        chunks.append(message.get("body", b""))
        size += len(chunks[-1])
        if size > MAX_REQUEST_BYTES:
            raise Answer(400, too_large(size))
        more = message.get("more_body", False)
    return chunks[0] if len(chunks) == 1 else b"".join(chunks)
