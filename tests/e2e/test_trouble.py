"""Redis goes away, loses its memory, comes back; the origin falls over; the edge's answers stay answers."""

from __future__ import annotations

import signal
import time
from collections.abc import Iterator
from pathlib import Path

import httpx
import pytest

from cli.processes import is_free
from tests.e2e.stack import PATIENCE_S, Stack, enter, queue, running, status, until
from tests.host.rest.servers import RedisServer, free_port
from tests.needs import needs

AWAY_AFTER_S = 5
QUEUES = [
    queue("hold", manual=True, idle_s=30, renew_every_s=10, settle_s=2, presence_grace_s=20),
    queue("open", admit_per_minute=100_000, burst=1000, idle_s=30, renew_every_s=10, settle_s=2, presence_grace_s=20),
    queue("let", manual=True, on_store_error="admit", store_error_admit_per_minute=1),
]


@pytest.fixture
def redis(tmp_path: Path) -> Iterator[RedisServer]:
    folder = tmp_path / "redis"
    folder.mkdir()
    server = RedisServer(needs("redis"), folder, free_port())
    server.start()
    yield server
    server.kill()


@pytest.fixture
def stack(tmp_path: Path, redis: RedisServer) -> Iterator[Stack]:
    with running(tmp_path, QUEUES, redis.url) as started:
        yield started


def answered(stack: Stack, path: str, code: int, within_s: float = PATIENCE_S) -> httpx.Response:
    """A stranger's answer, once it has this status."""
    deadline = time.monotonic() + within_s
    while (answer := stack.visitor().get(path)).status_code != code:
        assert time.monotonic() < deadline, f"{answer.status_code} {answer.text[:300]}"
        assert answer.status_code < 500 or "retry-after" in answer.headers, "a bare error"
        time.sleep(0.3)
    return answer


def test_redis_away_no_error_reaches_a_visitor_and_recovery_is_by_itself(stack: Stack, redis: RedisServer) -> None:
    inside, waiting = stack.visitor(), stack.visitor()
    enter(inside, "/open/")
    waiting.get("/hold/")
    place = status(waiting, "hold")
    redis.kill()
    start = time.monotonic()
    early = waiting.get("/hold/")
    assert early.status_code == 503
    assert time.monotonic() - start < 2, "an answer within the time budget"
    while time.monotonic() - start < AWAY_AFTER_S + 1:
        assert inside.get("/open/").status_code == 200, "those inside go on"
        assert stack.visitor().get("/hold/").status_code in (429, 503)
        time.sleep(0.5)
    assert until(waiting, "hold", "unavailable")["position"] == place["position"]
    assert "right back" in waiting.get("/hold/").text.lower()
    guest = stack.visitor()
    assert guest.get("/let/").status_code == 200, "admit lets some in"
    assert guest.get("/let/x").status_code == 200
    assert stack.visitor().get("/let/").status_code == 503, "and no more than it says"
    redis.start()
    # This Redis keeps nothing: the state is lost, and old places come back in their old order.
    found = until(waiting, "hold", "waiting")
    assert found["epoch"] != place["epoch"]
    assert found["position"] == 1
    assert inside.get("/open/").status_code == 200, "the old pass is taken over"


def test_a_flush_keeps_the_order_and_admits_nobody_early(stack: Stack, redis: RedisServer) -> None:
    visitors = [stack.visitor() for _ in range(3)]
    for visitor in visitors:
        visitor.get("/hold/")
        status(visitor, "hold")
    enter(stack.visitor(), "/open/")
    redis.command("FLUSHALL")
    assert answered(stack, "/open/", 503), "no new admission until old passes are accounted for"
    places: list[int] = []
    deadline = time.monotonic() + PATIENCE_S
    while len(places) < 3:
        assert time.monotonic() < deadline
        states = [status(visitor, "hold") for visitor in reversed(visitors)]
        places = [state["position"] for state in states if state["state"] == "waiting" and state["position"]]
        time.sleep(0.3)
    assert places == [3, 2, 1]
    assert stack.api("GET", "/queues/open")["status"] == "recovering"
    stack.api("POST", "/queues/open/resume")
    time.sleep(1)
    assert enter(stack.visitor(), "/open/").status_code == 200


def test_the_origin_down_is_said_in_words(tmp_path: Path) -> None:
    with running(tmp_path, QUEUES, STANCHION_ORIGIN_URL=f"http://127.0.0.1:{free_port()}") as stack:
        answer = stack.visitor().get("/about")
        assert answer.status_code == 502
        assert "no-store" in answer.headers["cache-control"]
        assert "Traceback" not in answer.text


def test_an_origin_down_costs_a_newcomer_one_slot_and_not_one_for_every_try(tmp_path: Path) -> None:
    origin = f"http://127.0.0.1:{free_port()}"
    with running(tmp_path, [queue("one", max_active=1)], STANCHION_ORIGIN_URL=origin) as stack:
        visitor = stack.visitor()
        deadline = time.monotonic() + PATIENCE_S
        while (answer := visitor.get("/one/")).status_code != 502:
            assert time.monotonic() < deadline, f"never let in: {answer.status_code} {answer.text[:300]}"
            time.sleep(0.2)
        assert "set-cookie" in answer.headers
        assert "no-store" in answer.headers["cache-control"]
        assert [visitor.get("/one/").status_code for _ in range(3)] == [502] * 3, "still inside"
        assert stack.visitor().get("/one/").status_code == 503, "the only slot is the visitor's"


def wait_free(stack: Stack) -> None:
    """Returns once every port of the run can be listened on again."""
    ports = [int(stack.environ[f"STANCHION_{name}_PORT"]) for name in ("EDGE", "ADMIN", "REDIS", "ORIGIN")]
    deadline = time.monotonic() + PATIENCE_S
    while taken := [port for port in ports if not is_free("127.0.0.1", port)]:
        assert time.monotonic() < deadline, f"still taken: {taken}\n{stack.log()}"
        time.sleep(0.1)


@pytest.mark.parametrize("workers", ["1", "2"])
def test_a_killed_run_leaves_no_part_behind(tmp_path: Path, workers: str) -> None:
    with running(tmp_path, [], STANCHION_ORIGIN_URL="", STANCHION_WORKERS=workers) as stack:
        stack.process.kill()
        stack.process.wait(PATIENCE_S)
        wait_free(stack)


def test_a_closed_terminal_stops_the_run_as_ctrl_c_does(tmp_path: Path) -> None:
    with running(tmp_path, [], STANCHION_ORIGIN_URL="") as stack:
        stack.process.send_signal(signal.SIGHUP)
        assert stack.process.wait(PATIENCE_S) == 0, stack.log()
        wait_free(stack)


def test_a_run_on_the_loopback_of_ip_version_6(tmp_path: Path) -> None:
    with running(tmp_path, [], STANCHION_ORIGIN_URL="", STANCHION_BIND="::1") as stack:
        edge = f"http://[::1]:{stack.environ['STANCHION_EDGE_PORT']}"
        assert edge in stack.log()
        assert httpx.get(f"{edge}/").status_code == 200


def test_what_cannot_start_says_why_in_one_line(tmp_path: Path) -> None:
    with running(tmp_path, QUEUES) as stack:
        pass
    cache = tmp_path / "cache"
    cache.write_text("")
    stack.environ["STANCHION_CACHE_DIR"] = str(cache)
    unwritable = stack.command("run")
    assert unwritable.returncode == 1
    assert unwritable.stderr.startswith(f"Error: cannot write to the cache folder {cache}")
    assert len(unwritable.stderr.splitlines()) == 1
    stack.environ["STANCHION_ADMIN_PORT"] = stack.environ["STANCHION_EDGE_PORT"]
    doubled = stack.command("run")
    assert doubled.returncode == 1
    assert "STANCHION_EDGE_PORT or STANCHION_ADMIN_PORT" in doubled.stderr
    assert len(doubled.stderr.splitlines()) == 1
    assert "building" not in doubled.stdout


def test_a_start_from_nothing_and_a_second_start(tmp_path: Path) -> None:
    """The embedded Redis, the seed of the store, and a clean stop, twice."""
    for start in range(2):
        with running(tmp_path, []) as stack:
            assert start == 0 or "building the component" not in stack.log(), "it is built already"
            assert stack.visitor().get("/drop/").status_code == 503
            assert stack.visitor(**{"X-Country": "JP"}).get("/concert/").status_code == 200
        assert stack.process.returncode == 0, stack.log()
        assert "Traceback" not in stack.log()


def test_a_taken_port_is_a_clear_message(tmp_path: Path) -> None:
    with running(tmp_path, []) as stack:
        second = stack.command("run")
        assert second.returncode == 1
        assert "is taken" in second.stderr
        assert "STANCHION_" in second.stderr


def test_the_last_good_configuration_stays_and_a_bad_one_does_not_start(tmp_path: Path) -> None:
    with running(tmp_path, QUEUES) as stack:
        assert stack.visitor().get("/hold/").status_code == 503
        (tmp_path / "kv" / "config.json").write_text('{"queues": [{"id": "Not An Id"}]}')
        time.sleep(1)
        assert stack.visitor().get("/hold/").status_code == 503
    refused = stack.command("run")
    assert refused.returncode == 1
    assert "queues[0].id" in refused.stderr


def test_an_interrupt_stops_a_run_in_the_background_too(tmp_path: Path) -> None:
    """A shell that starts a command in the background lets it ignore SIGINT."""
    before = signal.signal(signal.SIGINT, signal.SIG_IGN)
    try:
        with running(tmp_path, QUEUES) as stack:
            assert stack.visitor().get("/hold/").status_code == 503
        assert stack.process.returncode == 0, stack.log()
    finally:
        signal.signal(signal.SIGINT, before)
