"""The double at an address: each request gets a sandbox of its own, as many at once as come."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

from tests.double.message import Body, Headers, Message
from tests.double.platform import Platform
from tests.double.sandbox import Host, Sandbox

_PIECE_BYTES = 65_536
_NO_BODY = frozenset((204, 304))
_AT_ONCE = 2
_LIMITS_BYTES = 65_536


class Handler(BaseHTTPRequestHandler):
    """One connection."""

    protocol_version = "HTTP/1.1"
    server: Server

    def handle_one_request(self) -> None:
        self.raw_requestline = self.rfile.readline(_LIMITS_BYTES)
        if not self.raw_requestline:
            self.close_connection = True
            return
        if not self.parse_request():
            return
        self._answered = False
        message, body = self._message(), Body(self._content())
        sandbox = Sandbox(self.server.platform, self._deliver)
        with self.server.lock:
            self.server.sandboxes.append(sandbox)
        with self.server.room:
            self.server.host.run(sandbox, message, body)
        if not self._answered:
            self._deliver(Message(status=500), Body(b"the sandbox gave no answer"))
        self.wfile.flush()

    def _message(self) -> Message:
        headers: Headers = [(name, value.encode("latin-1")) for name, value in self.headers.items()]
        target = self.raw_requestline.split(b" ")[1].decode("latin-1")
        uri = target if "://" in target.partition("/")[0] + "//" and not target.startswith("/") else (
            f"http://{self.headers.get('Host', '')}{target}"
        )
        message = Message(self.command, uri, headers=headers)
        if self.server.client_header and message.values(self.server.client_header):
            message.client = message.values(self.server.client_header)[-1].decode()
        return message

    def _content(self) -> bytes:
        if self.headers.get("Transfer-Encoding", "").lower() != "chunked":
            return self.rfile.read(int(self.headers.get("Content-Length") or 0))
        content = b""
        while size := int(self.rfile.readline().partition(b";")[0], 16):
            content += self.rfile.read(size)
            self.rfile.readline()
        self.rfile.readline()
        return content

    def _deliver(self, message: Message, body: Body) -> None:
        self._answered = True
        has_none = self.command == "HEAD" or message.status in _NO_BODY
        is_chunked = not message.values("content-length") and body.length is None and not has_none
        lines = [f"HTTP/1.1 {message.status} {self.responses.get(message.status, ('',))[0]}".encode()]
        lines += [name.encode("latin-1") + b": " + value for name, value in message.headers]
        if is_chunked:
            lines.append(b"transfer-encoding: chunked")
        elif not message.values("content-length") and message.status not in _NO_BODY:
            lines.append(b"content-length: %d" % (body.length or 0))
        self.wfile.write(b"\r\n".join([*lines, b"", b""]))
        if has_none:
            return
        sent, promised = self._stream(body, is_chunked), message.values("content-length")
        if promised and sent < int(promised[-1]):
            self.close_connection = True  # the origin broke off

    def _stream(self, body: Body, is_chunked: bool) -> int:
        sent = 0
        while piece := body.read(_PIECE_BYTES):
            self.wfile.write(b"%x\r\n%b\r\n" % (len(piece), piece) if is_chunked else piece)
            self.wfile.flush()
            sent += len(piece)
        if is_chunked:
            self.wfile.write(b"0\r\n\r\n")
        return sent

    def log_message(self, format: str, *args: Any) -> None:
        return


class Server(ThreadingHTTPServer):
    """`client_header`: where a test says from which address it comes. `sandboxes`: those that have run."""

    daemon_threads = True
    request_queue_size = 256

    def __init__(self, port: int, host: Host, platform: Platform, client_header: str) -> None:
        super().__init__(("127.0.0.1", port), Handler)
        self.host, self.platform, self.client_header = host, platform, client_header
        self.sandboxes: list[Sandbox] = []
        self.lock = threading.Lock()
        # One process runs one sandbox at a time in earnest; more of them only wait for one another.
        self.room = threading.Semaphore(_AT_ONCE)

    def handle_error(self, request: Any, client_address: Any) -> None:
        """A visitor who went away."""


@contextmanager
def serving(server: Server) -> Iterator[Server]:
    """The server, in a thread of its own."""
    thread = threading.Thread(target=server.serve_forever, args=(0.05,), daemon=True)
    thread.start()
    try:
        yield server
    finally:
        server.shutdown()
        server.server_close()
        thread.join(5)
