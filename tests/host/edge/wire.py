"""A raw HTTP server and a raw client: what is asserted are the bytes on the wire."""

from __future__ import annotations

import socket
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field

TIMEOUT_S = 10.0
PIECE_BYTES = 65_536


class Stream:
    """A socket with a buffer in front of it."""

    def __init__(self, sock: socket.socket) -> None:
        self.sock = sock
        self.buffer = b""

    def fill(self) -> bool:
        """Reads one piece; False at the end."""
        piece = self.sock.recv(PIECE_BYTES)
        self.buffer += piece
        return bool(piece)

    def until(self, mark: bytes) -> bytes:
        """Everything up to and with `mark`; b"" when the end comes first."""
        while mark not in self.buffer:
            if not self.fill():
                return b""
        taken, _, self.buffer = self.buffer.partition(mark)
        return taken + mark

    def exactly(self, count: int) -> bytes:
        """`count` bytes, or fewer at the end."""
        while len(self.buffer) < count and self.fill():
            pass
        taken, self.buffer = self.buffer[:count], self.buffer[count:]
        return taken

    def rest(self) -> bytes:
        """All until the end."""
        while self.fill():
            pass
        taken, self.buffer = self.buffer, b""
        return taken

    def chunks(self) -> bytes:
        """A chunked body, decoded. Raises EOFError when it breaks off."""
        body = b""
        while True:
            size_line = self.until(b"\r\n")
            if not size_line:
                raise EOFError(body)
            size = int(size_line.split(b";")[0], 16)
            piece = self.exactly(size + 2)
            if len(piece) != size + 2:
                raise EOFError(body + piece)
            if size == 0:
                return body
            body += piece[:-2]


@dataclass
class Message:
    """A request or an answer: the start line, the fields in order with their spelling, and the body."""

    start: bytes
    fields: list[tuple[bytes, bytes]]
    body: bytes = b""
    head: bytes = b""

    def all(self, name: str) -> list[str]:
        """The values of every field of this name."""
        return [value.decode("latin-1") for key, value in self.fields if key.lower() == name.lower().encode()]

    def get(self, name: str) -> str | None:
        """The value of the only field of this name."""
        values = self.all(name)
        assert len(values) <= 1, f"{name} came {len(values)} times"
        return values[0] if values else None

    @property
    def status(self) -> int:
        return int(self.start.split(b" ")[1])

    @property
    def target(self) -> bytes:
        return self.start.split(b" ")[1]

    @property
    def text(self) -> str:
        return self.body.decode()


def read_head(stream: Stream) -> Message | None:
    """The next head, or None at the end of the connection."""
    head = stream.until(b"\r\n\r\n")
    if not head:
        return None
    start, *lines = head[:-4].split(b"\r\n")
    fields = []
    for line in lines:
        name, _, value = line.partition(b":")
        fields.append((name, value.strip()))
    return Message(start, fields, head=head)


def read_answer(stream: Stream, method: str = "GET") -> Message:
    """One final answer with its body, as its own framing says. Raises EOFError when it breaks off."""
    message = read_head(stream)
    if message is None:
        raise EOFError("no answer")
    if message.status == 100:
        return message
    if method == "HEAD" or message.status in (204, 304):
        return message
    length = message.get("content-length")
    if message.get("transfer-encoding") == "chunked":
        message.body = stream.chunks()
    elif length is not None:
        message.body = stream.exactly(int(length))
        if len(message.body) != int(length):
            raise EOFError(message.body)
    else:
        message.body = stream.rest()
    return message


def connect(port: int, host: str = "127.0.0.1") -> Stream:
    """A connection; close its `sock` when done."""
    return Stream(socket.create_connection((host, port), timeout=TIMEOUT_S))


def ask(port: int, request: bytes, method: str = "GET") -> Message:
    """One request on a connection of its own, and its answer."""
    stream = connect(port)
    with stream.sock:
        stream.sock.sendall(request)
        return read_answer(stream, method)


def get(port: int, target: str = "/", *fields: str, method: str = "GET", body: bytes = b"") -> Message:
    """A request with the given header lines."""
    lines = [f"{method} {target} HTTP/1.1", *fields]
    if not any(line.lower().startswith("host:") for line in fields):
        lines.insert(1, "Host: shop.example")
    if body:
        lines.append(f"Content-Length: {len(body)}")
    return ask(port, "\r\n".join(lines).encode("latin-1") + b"\r\n\r\n" + body, method)


Handler = Callable[[Message, Stream], None]


def ok(body: bytes = b"hello", *fields: str, status: str = "200 OK") -> bytes:
    """An answer with a length."""
    lines = [f"HTTP/1.1 {status}", *fields, f"Content-Length: {len(body)}"]
    return "\r\n".join(lines).encode("latin-1") + b"\r\n\r\n" + body


@dataclass
class RawServer:
    """A server on a port of its own: it keeps every request, and `handler` writes what it likes."""

    handler: Handler
    requests: list[Message] = field(default_factory=list)
    connections: int = 0
    port: int = 0
    heads: int = 0
    open_now: int = 0

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.port}"

    @property
    def last(self) -> Message:
        return self.requests[-1]

    def _accept(self, listener: socket.socket) -> None:
        while True:
            try:
                sock, _ = listener.accept()
            except OSError:
                return
            self.connections += 1
            threading.Thread(target=self._serve, args=(sock,), daemon=True).start()

    def _serve(self, sock: socket.socket) -> None:
        sock.settimeout(TIMEOUT_S * 2)
        stream = Stream(sock)
        self.open_now += 1
        try:
            with sock:
                while (message := read_head(stream)) is not None:
                    self.heads += 1
                    if message.get("transfer-encoding") == "chunked":
                        message.body = stream.chunks()
                    else:
                        message.body = stream.exactly(int(message.get("content-length") or 0))
                    self.requests.append(message)
                    self.handler(message, stream)
        except (OSError, EOFError):
            return
        finally:
            self.open_now -= 1


def always(answer: bytes) -> Handler:
    """A handler that gives the same answer each time."""

    def handler(_: Message, stream: Stream) -> None:
        stream.sock.sendall(answer)

    return handler


@contextmanager
def raw_server(handler: Handler | bytes) -> Iterator[RawServer]:
    """Runs a server for the length of the block."""
    server = RawServer(always(handler) if isinstance(handler, bytes) else handler)
    listener = socket.create_server(("127.0.0.1", 0))
    server.port = listener.getsockname()[1]
    thread = threading.Thread(target=server._accept, args=(listener,), daemon=True)
    thread.start()
    try:
        yield server
    finally:
        listener.shutdown(socket.SHUT_RDWR)
        listener.close()
        thread.join(TIMEOUT_S)
