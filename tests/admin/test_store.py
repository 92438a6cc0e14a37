"""The door to Redis: forgotten scripts, slow and strange answers."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import pytest

from admin import store as store_module
from admin.store import READ_AT_MOST, Limits, Reading, Store, StoreUnavailable
from edge.core import commands
from tests.admin.conftest import Admin
from tests.admin.world import REST_TOKEN, Bridge, queue_json

RANDOM = "0" * 32


class Server:
    """A server that answers every request in one way."""

    def __init__(self, status: int, body: bytes, delay_s: float = 0.0) -> None:
        release = self.release = threading.Event()

        class Handler(BaseHTTPRequestHandler):
            def do_POST(self) -> None:
                self.rfile.read(int(self.headers.get("Content-Length", 0)))
                release.wait(delay_s)
                self.send_response(status)
                self.send_header("Content-Length", str(len(body)))
                self.end_headers()
                self.wfile.write(body)

            def log_message(self, *args: object) -> None:
                pass

        self.http = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.url = f"http://127.0.0.1:{self.http.server_address[1]}"
        threading.Thread(target=self.http.serve_forever, daemon=True).start()

    def stop(self) -> None:
        self.release.set()
        self.http.shutdown()
        self.http.server_close()


@pytest.fixture
def strange(request: pytest.FixtureRequest) -> Iterator[Server]:
    server = Server(*request.param)
    yield server
    server.stop()


def both(url: str, token: str = REST_TOKEN) -> tuple[str, str]:
    """What running a step and reading a queue say when they fail."""

    async def ask() -> tuple[str, str]:
        store = Store(url, token, "redis")
        try:
            with pytest.raises(StoreUnavailable) as one:
                await store.run(commands.take_snapshot("sale", RANDOM))
            with pytest.raises(StoreUnavailable) as other:
                await store.read(["sale"], [RANDOM])
            return str(one.value), str(other.value)
        finally:
            await store.close()

    return asyncio.run(ask())


STRANGE = [
    (200, b"<html>hello</html>"), (200, b"[]"), (200, b"{}"), (200, b'{"result": "OK"}'), (200, b'{"result": [[], []]}'),
    (200, b'[{"result": null}, {"result": null}]'), (200, b'[{"result": [["ok"], ["x"]]}, {"result": []}]'), (502, b""),
    (200, b'[{"error": "ERR script failed"}]'), (500, b'{"error": "ERR no"}'), (200, b"null"), (200, b"\xff\xfe"),
    (200, b'[{"result": [["missing"], []]}, {"result": ["a", "", "", "", "", "0", "0"]}]'),
]  # fmt: skip


@pytest.mark.parametrize("strange", STRANGE, indirect=True, ids=lambda case: repr(case)[:40])
def test_a_strange_answer_is_a_sentence(strange: Server) -> None:
    for sentence in both(strange.url):
        assert sentence.endswith(".") or ": " in sentence
        assert "Traceback" not in sentence


@pytest.mark.parametrize("strange", [(200, b'{"result": 1}', 60.0)], indirect=True)
def test_a_slow_answer_is_given_up(strange: Server, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(store_module, "TIMEOUT_S", 0.1)
    monkeypatch.setattr(store_module, "READ_TIMEOUT_S", 0.1)
    for sentence in both(strange.url):
        assert sentence == "Redis did not answer within 0.1 s."


@pytest.mark.parametrize("strange", [(401, b'{"error": "WRONGPASS invalid token"}')], indirect=True)
def test_a_refused_token_is_named(strange: Server) -> None:
    assert all("UPSTASH_REDIS_REST_TOKEN" in sentence for sentence in both(strange.url))


def test_forgotten_scripts_are_sent_again(admin: Admin, bridge: Bridge) -> None:
    admin.publish(*(queue_json(f"q{number}") for number in range(READ_AT_MOST + 3)))
    admin.start()
    queues = list(admin.queues.values())

    async def ask() -> None:
        store = Store(bridge.url, REST_TOKEN, "redis")
        for _ in range(2):
            admin.visitors.client.script_flush()
            found = await store.read([queue.scope for queue in queues], [RANDOM] * len(queues))
            assert [reading.answer.verdict for reading in found] == ["ok"] * len(queues)
            assert {reading.limits.admit_per_minute for reading in found} == {60}
        admin.visitors.client.script_flush()
        assert (await store.run(commands.control("q0", "pause", "r", RANDOM))).verdict == "ok"
        await store.close()

    asyncio.run(ask())
    assert admin.visitors.state(queues[0])["status"] == "paused"


def test_nothing_is_read_of_no_queue(bridge: Bridge) -> None:
    async def ask() -> list[Reading]:
        store = Store(bridge.url, REST_TOKEN, "redis")
        found = await store.read([], [])
        await store.close()
        return found

    assert asyncio.run(ask()) == []


def test_limits_by_their_public_names() -> None:
    found = Limits.read(["90", "", None, "7", "rate inventory", "1", "0"])
    assert found == Limits(90, None, None, 7, True, False, ("admit_per_minute", "inventory"))
