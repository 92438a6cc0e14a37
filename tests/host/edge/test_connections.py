"""The pool of connections: its limit, what comes back to it, and what it costs."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Awaitable, Callable

import httpx
import pytest

from host.edge.connections import Connections
from tests.host.edge.support import wait_until
from tests.host.edge.wire import Handler, Message, RawServer, Stream, ok, raw_server

KEEPALIVE_S = 5.0
# How far the clock of the pool is ahead.
offset_s = [0.0]


def request(server: RawServer, pool_s: float = 0.2) -> httpx.Request:
    """A request whose times are short."""
    timeout = {"connect": 1.0, "read": 1.0, "write": 1.0, "pool": pool_s}
    headers = {"Host": "a"}
    return httpx.Request(
        "GET", server.url, headers=headers, stream=httpx.ByteStream(b""), extensions={"timeout": timeout}
    )


def with_pool(
    handler: Handler | bytes, limit: int, do: Callable[[Connections, RawServer], Awaitable[None]]
) -> None:
    """Runs `do` with a pool and a server."""
    offset_s[0] = 0.0

    async def main(server: RawServer) -> None:
        pool = Connections(limit, KEEPALIVE_S, lambda: time.monotonic() + offset_s[0])
        await do(pool, server)
        await pool.aclose()

    with raw_server(handler) as server:
        asyncio.run(main(server))
        wait_until(lambda: server.open_now == 0, "all connections to be closed")


async def read(pool: Connections, server: RawServer) -> bytes:
    """One answer, read to its end."""
    response = await pool.handle_async_request(request(server))
    try:
        return await response.aread()
    finally:
        await response.aclose()


def test_a_connection_is_used_again() -> None:
    async def do(pool: Connections, server: RawServer) -> None:
        for _ in range(5):
            assert await read(pool, server) == b"x"
        assert server.connections == 1

    with_pool(ok(b"x"), 3, do)


def test_no_more_connections_than_the_limit_and_a_free_one_ends_the_wait() -> None:
    async def do(pool: Connections, server: RawServer) -> None:
        held = [await pool.handle_async_request(request(server)) for _ in range(3)]
        with pytest.raises(httpx.PoolTimeout):
            await pool.handle_async_request(request(server))
        waiting = asyncio.create_task(pool.handle_async_request(request(server, pool_s=5)))
        await asyncio.sleep(0.05)
        assert not waiting.done()
        await held.pop().aclose()
        await (await waiting).aclose()
        for response in held:
            await response.aclose()
        assert await read(pool, server) == b"x"

    with_pool(ok(b"x"), 3, do)


def test_failures_and_cancellations_give_the_place_back() -> None:
    def badly(message: Message, stream: Stream) -> None:
        if len(server_requests) < 6:
            server_requests.append(message)
            stream.sock.close()
        else:
            stream.sock.sendall(ok(b"well"))

    server_requests: list[Message] = []

    async def do(pool: Connections, server: RawServer) -> None:
        for _ in range(6):
            with pytest.raises(httpx.TransportError):
                await pool.handle_async_request(request(server))
        assert await read(pool, server) == b"well"

    with_pool(badly, 2, do)


def test_a_request_that_is_cancelled_gives_its_place_back() -> None:
    slow = [True]

    def slowly(_: Message, stream: Stream) -> None:
        if slow[0]:
            time.sleep(0.5)
        stream.sock.sendall(ok(b"x"))

    async def do(pool: Connections, server: RawServer) -> None:
        for _ in range(4):
            task = asyncio.create_task(pool.handle_async_request(request(server)))
            await asyncio.sleep(0.05)
            task.cancel()
            with pytest.raises(asyncio.CancelledError):
                await task
        slow[0] = False
        assert await read(pool, server) == b"x"

    with_pool(slowly, 2, do)


def test_a_response_that_is_closed_twice_gives_one_place_back() -> None:
    async def do(pool: Connections, server: RawServer) -> None:
        response = await pool.handle_async_request(request(server))
        for _ in range(3):
            await response.stream.aclose()  # type: ignore[union-attr]
        held = [await pool.handle_async_request(request(server))]
        with pytest.raises(httpx.PoolTimeout):
            await pool.handle_async_request(request(server))
        await held[0].aclose()

    with_pool(ok(b"x"), 1, do)


def test_an_answer_that_is_not_read_does_not_spoil_the_next() -> None:
    async def do(pool: Connections, server: RawServer) -> None:
        unread = await pool.handle_async_request(request(server))
        await unread.aclose()
        assert await read(pool, server) == b"y" * 200_000

    with_pool(ok(b"y" * 200_000), 1, do)


def test_idle_connections_are_closed_in_time() -> None:
    async def do(pool: Connections, server: RawServer) -> None:
        held = [await pool.handle_async_request(request(server)) for _ in range(4)]
        for response in held:
            await response.aread()
            await response.aclose()
        assert server.open_now == 4
        offset_s[0] += KEEPALIVE_S + 1
        assert await read(pool, server) == b"x"
        for _ in range(100):
            await asyncio.sleep(0.02)
            if server.open_now == 1:
                break
        assert server.open_now == 1

    with_pool(ok(b"x"), 4, do)
