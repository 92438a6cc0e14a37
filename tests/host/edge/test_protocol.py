"""The connection's own times: heads without end, connections without a word, visitors who do not read."""

from __future__ import annotations

import asyncio
import contextlib
import threading
from collections.abc import Iterator
from typing import Any

import pytest
import uvicorn

from host.edge import exchange as exchange_module
from host.edge import protocol as protocol_module
from host.edge.exchange import Exchange
from host.edge.protocol import EdgeProtocol
from tests.host.edge.wire import Stream, connect, read_answer, read_head

SHORT_S = 0.3
PIECE = bytes(1024 * 1024)


class App:
    """Answers "/" at once, pours without end at "/pour", and keeps what it was asked."""

    def __init__(self) -> None:
        self.ended: list[str] = []

    async def __call__(self, scope: Any, receive: Any, send: Any) -> None:
        if scope["type"] == "lifespan":
            return
        exchange: Exchange = scope["extensions"]["stanchion"]
        pour = exchange.target == b"/pour"
        headers = [] if pour else [(b"content-length", b"2")]
        await send({"type": "http.response.start", "status": 200, "headers": headers})
        while pour and not exchange.disconnected:
            await send({"type": "http.response.body", "body": PIECE, "more_body": True})
        if pour:
            self.ended.append("pour")
            return
        await send({"type": "http.response.body", "body": b"ok"})


@pytest.fixture
def served(monkeypatch: pytest.MonkeyPatch) -> Iterator[tuple[int, App]]:
    """A server of this process with short times."""
    monkeypatch.setattr(protocol_module, "HEAD_TIMEOUT_S", SHORT_S)
    monkeypatch.setattr(protocol_module, "LINGER_S", SHORT_S)
    monkeypatch.setattr(exchange_module, "CLIENT_STALL_S", SHORT_S)
    app = App()
    ready, ports = threading.Event(), []
    loop = asyncio.new_event_loop()

    async def main() -> None:
        config = uvicorn.Config(app, http=EdgeProtocol, ws="none", lifespan="off", log_config=None)
        config.load()
        state = uvicorn.server.ServerState()
        server = await loop.create_server(lambda: EdgeProtocol(config, state, {}, loop), "127.0.0.1", 0)
        ports.append(server.sockets[0].getsockname()[1])
        ready.set()
        with contextlib.suppress(asyncio.CancelledError):
            await server.serve_forever()

    task = loop.create_task(main())
    thread = threading.Thread(target=lambda: loop.run_until_complete(task), daemon=True)
    thread.start()
    assert ready.wait(10)
    yield ports[0], app
    loop.call_soon_threadsafe(task.cancel)
    thread.join(10)


def test_a_head_that_does_not_end_is_refused(served: tuple[int, App]) -> None:
    stream = connect(served[0])
    with stream.sock:
        stream.sock.sendall(b"GET / HTTP/1.1\r\nHost: a\r\n")
        assert read_answer(stream).status == 408
        assert stream.rest() == b""


def test_a_head_that_drips_is_refused_too(served: tuple[int, App]) -> None:
    stream = connect(served[0])
    with stream.sock:
        stream.sock.sendall(b"GET / HTTP/1.1\r\nHost: a\r\nX: ")
        dripping = threading.Event()

        def drip() -> None:
            with contextlib.suppress(OSError):
                while not dripping.wait(0.02):
                    stream.sock.sendall(b"x")

        thread = threading.Thread(target=drip, daemon=True)
        thread.start()
        assert read_answer(stream).status == 408
        dripping.set()
        thread.join(5)


def test_a_second_head_has_its_own_time(served: tuple[int, App]) -> None:
    stream = connect(served[0])
    with stream.sock:
        stream.sock.sendall(b"GET / HTTP/1.1\r\nHost: a\r\n\r\n")
        assert read_answer(stream).body == b"ok"
        stream.sock.sendall(b"GET / HT")
        assert read_answer(stream).status == 408


def test_a_connection_that_says_nothing_is_closed(served: tuple[int, App]) -> None:
    stream = connect(served[0])
    with stream.sock:
        assert stream.rest() == b""


def test_a_visitor_who_does_not_read_is_let_go(served: tuple[int, App]) -> None:
    port, app = served
    stream: Stream = connect(port)
    with stream.sock:
        stream.sock.sendall(b"GET /pour HTTP/1.1\r\nHost: a\r\n\r\n")
        assert read_head(stream) is not None
        for _ in range(200):
            if app.ended:
                break
            threading.Event().wait(0.05)
        assert app.ended == ["pour"]
