"""The Redis side over a real socket: budgets, kinds of trouble, the breaker, shared batches, counts."""

from __future__ import annotations

import asyncio
import json
import socket
import time
from collections.abc import Awaitable, Callable
from contextlib import closing

import pytest

from host.edge import shared as shared_module
from host.edge.breaker import FAILURES_TO_OPEN, OPEN_S
from host.edge.messages import Commands, StepError
from host.edge.redis_rest import RedisRest
from host.edge.shared import Kept, SharedAnswers
from host.edge.store import DECISION_BUDGET_S, Store
from tests.host.edge.conftest import counting
from tests.host.edge.wire import Handler, Message, Stream, ok, raw_server

PING = '[["PING"]]'


class Clock:
    """Monotonic seconds that a test moves."""

    def __init__(self) -> None:
        self.offset_s = 0.0
        self.frozen_s: float | None = None

    def __call__(self) -> float:
        return (time.monotonic() if self.frozen_s is None else self.frozen_s) + self.offset_s


class Bench:
    """A store with its log and clock."""

    def __init__(self, url: str) -> None:
        self.logged: list[tuple[str, dict[str, object]]] = []
        self.clock = Clock()
        self.store = Store(RedisRest(url, "token"), lambda *line: self.logged.append(line), self.clock)

    async def run(self, batch: Commands, budget_s: float = DECISION_BUDGET_S) -> dict[str, object]:
        told = json.loads(await self.store.run(batch, self.clock() + budget_s))
        assert isinstance(told, dict)
        return told

    async def ping(self) -> dict[str, object]:
        return await self.run(Commands(PING))


def with_store(url: str, do: Callable[[Bench], Awaitable[None]]) -> None:
    """Runs `do` with a store at `url`."""

    async def main() -> None:
        bench = Bench(url)
        try:
            await do(bench)
        finally:
            await bench.store.close()

    asyncio.run(main())


def closed_port() -> int:
    """A port where nothing listens."""
    with closing(socket.create_server(("127.0.0.1", 0))) as listener:
        port: int = listener.getsockname()[1]
    return port


def kind_of(handler: Handler | bytes) -> object:
    """What a store that answers like this is called."""
    kinds: list[object] = []

    async def do(bench: Bench) -> None:
        kinds.append((await bench.ping())["failed"])

    with raw_server(handler) as server:
        with_store(server.url, do)
    return kinds[0]


@pytest.mark.parametrize(
    ("answer", "kind"),
    [
        (ok(b"[]", status="429 Too Many Requests"), "busy"),
        (ok(b"<p>slow down</p>", status="429 Too Many Requests"), "busy"),
        (ok(b'{"error":"ERR max requests limit exceeded. Limit: 500000"}', status="400 Bad Request"), "busy"),
        (ok(b'[{"error":"ERR max daily request limit exceeded. Limit: 10000"}]'), "busy"),
        (ok(b'{"error":"WRONGPASS invalid or missing auth token"}', status="401 Unauthorized"), "away"),
        (ok(b'{"error":"ERR max request size exceeded"}', status="400 Bad Request"), "away"),
        (ok(b"Bad Gateway", status="502 Bad Gateway"), "away"),
        (ok(b'[{"result":1}]', status="500 Oops"), "away"),
        (ok(b"", "Location: http://127.0.0.1:1/", status="302 Found"), "away"),
        (ok(b'[{"result":1},{"result":2}]'), "away"),
        (ok(b'{"result":1}'), "away"),
        (ok(b"[1]"), "away"),
        (ok(b"[{}]"), "away"),
        (ok(b'[{"result":1}'), "away"),
        (ok(b'[{"result":"\xff"}]'), "away"),
        (ok(b"<html>a captive portal</html>"), "away"),
        (b"nonsense\r\n\r\n", "away"),
    ],
)
def test_every_unusable_answer_has_a_kind(answer: bytes, kind: str) -> None:
    assert kind_of(answer) == kind


def test_a_store_that_closes_is_away() -> None:
    assert kind_of(lambda message, stream: stream.sock.close()) == "away"


def test_an_error_of_one_command_is_an_answer() -> None:
    async def do(bench: Bench) -> None:
        told = await bench.ping()
        assert told == {"results": [{"error": "NOSCRIPT x"}], "age_ms": 0}

    with raw_server(ok(b'[{"error":"NOSCRIPT x"}]')) as server:
        with_store(server.url, do)


def test_a_store_that_does_not_answer_is_slow_and_costs_the_budget_once() -> None:
    async def do(bench: Bench) -> None:
        started_s = time.monotonic()
        deadline_s = bench.clock() + DECISION_BUDGET_S
        for _ in range(3):
            told = json.loads(await bench.store.run(Commands(PING), deadline_s))
            assert told["failed"] == "slow"
        assert time.monotonic() - started_s >= DECISION_BUDGET_S * 0.9
        assert bench.store.counts.requests == 1

    with raw_server(lambda message, stream: time.sleep(2)) as server:
        with_store(server.url, do)


def test_a_store_that_drips_its_answer_is_slow() -> None:
    def drip(_: Message, stream: Stream) -> None:
        for byte in ok(b'[{"result":1}]'):
            stream.sock.sendall(bytes([byte]))
            time.sleep(0.1)

    assert kind_of(drip) == "slow"


def test_a_request_is_never_repeated_by_itself() -> None:
    async def do(bench: Bench) -> None:
        await bench.ping()

    with raw_server(lambda message, stream: stream.sock.close()) as server:
        with_store(server.url, do)
        assert len(server.requests) == 1


def test_the_breaker_opens_spares_the_store_and_finds_it_back() -> None:
    state = {"up": False}

    def maybe(message: Message, stream: Stream) -> None:
        counting(message, stream) if state["up"] else stream.sock.close()

    async def do(bench: Bench) -> None:
        bench.clock.frozen_s = bench.clock()
        for _ in range(FAILURES_TO_OPEN):
            assert (await bench.ping())["failed"] == "away"
        for _ in range(20):
            assert (await bench.ping())["failed"] == "away"
        assert len(server.requests) == FAILURES_TO_OPEN
        bench.clock.offset_s += OPEN_S
        assert (await bench.ping())["failed"] == "away"
        assert len(server.requests) == FAILURES_TO_OPEN + 1
        state["up"] = True
        assert (await bench.ping())["failed"] == "away"
        bench.clock.offset_s += OPEN_S
        assert "results" in await bench.ping()
        assert "results" in await bench.ping()
        names = [name for name, _ in bench.logged]
        assert names.count("store.breaker_open") == 1
        assert names.count("store.back") == 1

    with raw_server(maybe) as server:
        with_store(server.url, do)


def test_a_store_that_is_down_is_left_alone_and_found_back() -> None:
    port = closed_port()

    async def do(bench: Bench) -> None:
        bench.clock.frozen_s = bench.clock()
        for _ in range(50):
            assert (await bench.ping())["failed"] == "away"
        assert bench.store.counts.requests == FAILURES_TO_OPEN
        listener = await asyncio.start_server(answer, "127.0.0.1", port)
        bench.clock.offset_s += OPEN_S
        assert "results" in await bench.ping()
        listener.close()

    async def answer(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await reader.readuntil(b'"PING"]]')
        writer.write(ok(b'[{"result":"PONG"}]'))

    with_store(f"http://127.0.0.1:{port}", do)


def test_a_limit_of_the_store_does_not_open_the_breaker() -> None:
    async def do(bench: Bench) -> None:
        for _ in range(FAILURES_TO_OPEN * 2):
            assert (await bench.ping())["failed"] == "busy"
        assert len(server.requests) == FAILURES_TO_OPEN * 2

    with raw_server(ok(b"[]", status="429 Too Many Requests")) as server:
        with_store(server.url, do)


def test_a_budget_used_up_by_an_earlier_batch_does_not_open_the_breaker() -> None:
    def slowly(message: Message, stream: Stream) -> None:
        time.sleep(0.15)
        counting(message, stream)

    async def do(bench: Bench) -> None:
        for _ in range(FAILURES_TO_OPEN * 2):
            assert (await bench.run(Commands(PING), budget_s=0.05))["failed"] == "slow"
        assert "results" in await bench.ping()

    with raw_server(slowly) as server:
        with_store(server.url, do)


def test_away_ms_counts_from_the_last_answer() -> None:
    async def do(bench: Bench) -> None:
        bench.clock.offset_s += 5
        assert (await bench.ping())["age_ms"] == 0
        server.handler = lambda message, stream: stream.sock.close()
        bench.clock.offset_s += 7
        away_ms = (await bench.ping())["away_ms"]
        assert isinstance(away_ms, int)
        assert 7_000 <= away_ms < 30_000

    with raw_server(counting) as server:
        with_store(server.url, do)


def shared(key: str = "k", max_age_ms: int = 500) -> Commands:
    """A shared batch."""
    return Commands('[["SNAPSHOT"]]', key, max_age_ms)


def test_the_last_good_answer_comes_with_a_failure_and_its_age() -> None:
    async def do(bench: Bench) -> None:
        await bench.run(shared())
        server.handler = lambda message, stream: stream.sock.close()
        bench.clock.offset_s += 2
        told = await bench.run(shared())
        assert told["failed"] == "away"
        stale = told["stale"]
        assert isinstance(stale, dict)
        assert stale["results"] == [{"result": "SNAPSHOT"}]
        assert 2_000 <= stale["age_ms"] < 30_000
        assert (await bench.run(shared("other")))["stale"] is None

    with raw_server(counting) as server:
        with_store(server.url, do)


def test_an_error_does_not_push_out_the_last_good_answer() -> None:
    async def do(bench: Bench) -> None:
        await bench.run(shared())
        server.handler = lambda message, stream: stream.sock.sendall(ok(b'[{"error":"ERR x"}]'))
        bench.clock.offset_s += 1
        assert (await bench.run(shared()))["results"] == [{"error": "ERR x"}]
        server.handler = lambda message, stream: stream.sock.close()
        stale = (await bench.run(shared()))["stale"]
        assert isinstance(stale, dict)
        assert stale["results"] == [{"result": "SNAPSHOT"}]

    with raw_server(counting) as server:
        with_store(server.url, do)


def test_the_age_that_counts_is_that_of_each_request() -> None:
    async def do(bench: Bench) -> None:
        await bench.run(shared(max_age_ms=60_000))
        bench.clock.offset_s += 0.3
        assert (await bench.run(shared(max_age_ms=1_000)))["age_ms"] != 0
        assert (await bench.run(shared(max_age_ms=100)))["age_ms"] == 0
        assert len(server.requests) == 2

    with raw_server(counting) as server:
        with_store(server.url, do)


def test_an_answer_never_serves_longer_than_allowed_since_it_was_asked_for() -> None:
    def slowly(message: Message, stream: Stream) -> None:
        time.sleep(0.3)
        counting(message, stream)

    async def do(bench: Bench) -> None:
        await bench.run(shared(max_age_ms=200))
        await bench.run(shared(max_age_ms=200))
        assert len(server.requests) == 2

    with raw_server(slowly) as server:
        with_store(server.url, do)


def test_a_store_in_trouble_is_not_asked_by_every_visitor() -> None:
    async def do(bench: Bench) -> None:
        bench.clock.frozen_s = bench.clock()
        kinds = [(await bench.run(shared()))["failed"] for _ in range(100)]
        assert kinds == ["busy"] * 100
        assert len(server.requests) == 1
        bench.clock.offset_s += shared_module.RETRY_PAUSE_S
        await bench.run(shared())
        assert len(server.requests) == 2

    with raw_server(ok(b"[]", status="429 Too Many Requests")) as server:
        with_store(server.url, do)


def test_a_follower_with_little_time_does_not_wait_for_the_fetch() -> None:
    def slowly(message: Message, stream: Stream) -> None:
        time.sleep(0.4)
        counting(message, stream)

    async def do(bench: Bench) -> None:
        leader = asyncio.create_task(bench.run(shared()))
        await asyncio.sleep(0.05)
        assert (await bench.run(shared(), budget_s=0.05))["failed"] == "slow"
        assert (await leader)["results"] == [{"result": "SNAPSHOT"}]
        assert len(server.requests) == 1

    with raw_server(slowly) as server:
        with_store(server.url, do)


def test_a_leader_that_is_cancelled_leaves_the_fetch_to_the_others() -> None:
    def slowly(message: Message, stream: Stream) -> None:
        time.sleep(0.2)
        counting(message, stream)

    async def do(bench: Bench) -> None:
        leader = asyncio.create_task(bench.run(shared()))
        await asyncio.sleep(0.05)
        follower = asyncio.create_task(bench.run(shared()))
        await asyncio.sleep(0.05)
        leader.cancel()
        assert (await follower)["results"] == [{"result": "SNAPSHOT"}]
        assert len(server.requests) == 1

    with raw_server(slowly) as server:
        with_store(server.url, do)


def test_counts_are_of_what_was_sent() -> None:
    async def do(bench: Bench) -> None:
        await bench.run(Commands('[["A"],["B"],["C"]]'))
        for _ in range(10):
            await bench.run(shared(max_age_ms=60_000))
        assert bench.store.counts.as_fields() == {
            "requests": 2,
            "commands": 4,
            "shared_used": 9,
            "failed": {"away": 0, "slow": 0, "busy": 0},
        }

    with raw_server(counting) as server:
        with_store(server.url, do)
        assert len(server.requests) == 2


@pytest.mark.parametrize(
    "body", ["", "no", "{}", "[]", "[[]]", '["PING"]', '[["PING", null]]', '[["PING", ["x"]]]']
)
def test_what_is_no_batch_is_never_sent(body: str) -> None:
    async def do(bench: Bench) -> None:
        for batch in (Commands(body), Commands(body, "k", 100)):
            with pytest.raises(StepError):
                await bench.run(batch)

    with raw_server(counting) as server:
        with_store(server.url, do)
        assert server.requests == []


def test_shared_answers_are_bounded_in_number_and_size(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(shared_module, "MAX_ENTRIES", 3)
    monkeypatch.setattr(shared_module, "MAX_TOTAL_CHARS", 100)
    answers = SharedAnswers()
    for number in range(10):
        answers.put(str(number), Kept("x" * 10, 0, 0))
        answers.get("0")
    assert [key for key in map(str, range(10)) if answers.get(key)] == ["0", "8", "9"]
    answers.put("large", Kept("x" * 95, 0, 0))
    assert len(answers) == 1
    assert answers.get("large") is not None
    answers.put("too large", Kept("x" * 101, 0, 0))
    assert answers.get("too large") is None
    assert answers.get("large") is not None
    answers.put("large", Kept("x" * 101, 0, 0))
    assert len(answers) == 0
