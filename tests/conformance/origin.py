"""The site behind the edge: it says what it received, streams when it is told to, and has odd headers of its own."""

from __future__ import annotations

import socket
import threading

from tests.e2e.stack import echo
from tests.host.edge.wire import Message, Stream, ok

STREAM_WAIT_S = 10.0
ODD_FIELDS = (
    "X-Twice: one", "X-Twice: two", "X-Latin: caf\xe9", 'ETag: W/"a, b"',
    "Set-Cookie: a=1; Expires=Wed, 01 Jan 2031 00:00:00 GMT", "Set-Cookie: b=2",
)  # fmt: skip
# Held until a test has seen the first half of a streamed answer; set again by the test.
seen_first_half = threading.Event()


def origin(message: Message, stream: Stream) -> None:
    """The handler of a raw server."""
    path = message.target.partition(b"?")[0]
    if path.endswith(b"/stream"):
        _stream(stream)
    elif path.endswith(b"/odd"):
        stream.sock.sendall(ok(b"odd", *ODD_FIELDS, status="206 Partial Content"))
    elif path.endswith(b"/nothing"):
        stream.sock.sendall(b"HTTP/1.1 204 No Content\r\n\r\n")
    elif path.endswith(b"/cut"):
        stream.sock.sendall(b"HTTP/1.1 200 OK\r\nContent-Length: 1000\r\n\r\nfour")
        stream.sock.shutdown(socket.SHUT_RDWR)
    elif path.endswith(b"/cut-piece"):
        stream.sock.sendall(b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n4\r\nfour\r\n")
        stream.sock.shutdown(socket.SHUT_RDWR)
    elif path.endswith(b"/unchanged"):
        stream.sock.sendall(b'HTTP/1.1 304 Not Modified\r\nETag: "x"\r\n\r\n')
    else:
        echo(message, stream)


def _stream(stream: Stream) -> None:
    stream.sock.sendall(b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n6\r\nfirst \r\n")
    seen_first_half.wait(STREAM_WAIT_S)
    stream.sock.sendall(b"4\r\nlast\r\n0\r\n\r\n")
