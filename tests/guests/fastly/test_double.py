"""The guest on a platform that fails in every corner: one answer, the right one, and nothing about the visitor in the log."""

from __future__ import annotations

import json
import socket
import threading
import time
from collections.abc import Iterator

import jwt
import pytest

from edge.core import scripts
from tests.double.message import Backend, Body, Message
from tests.double.sandbox import Sandbox
from tests.guests.fastly.conftest import Desk, cookies

TOGETHER = 100


@pytest.fixture
def silence() -> Iterator[str]:
    """A server that accepts and never answers."""
    with socket.create_server(("127.0.0.1", 0)) as server:
        yield f"http://127.0.0.1:{server.getsockname()[1]}"


def place(desk: Desk, queue: str) -> str:
    """The cookies of somebody with a place."""
    return cookies(desk.ask(f"/{queue}/", cookies(desk.ask(f"/{queue}/")[1]))[1])


def test_a_crowd_asks_redis_once_a_second(desk: Desk) -> None:
    waiting = place(desk, "hand")
    desk.platform.cache.items.clear()
    desk.platform.sent.clear()
    found: list[int] = []

    def poll() -> None:
        sandbox = Sandbox(desk.platform, lambda message, body: found.append(message.status))
        with desk.double.server.room:
            desk.double.server.host.run(sandbox, desk.request("/.stanchion/hand/status", waiting), Body())

    start = time.monotonic()
    threads = [threading.Thread(target=poll) for _ in range(TOGETHER)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert found == [200] * TOGETHER
    assert desk.platform.sent["redis"] <= 1 + (time.monotonic() - start)


def test_a_snapshot_of_another_version_is_not_read(desk: Desk) -> None:
    waiting = place(desk, "hand")
    desk.ask("/hand/", waiting)
    (key,) = [key for key in desk.platform.cache.items if key.endswith(b"snapshot:hand") and b"last" not in key]
    assert scripts.SNAPSHOT.sha["redis"][:12].encode() in key, "the script says which form its answers have"


def test_an_old_snapshot_serves_while_one_visitor_brings_a_new_one(desk: Desk) -> None:
    waiting = place(desk, "hand")
    desk.ask("/hand/", waiting)
    desk.platform.cache.ahead_s += 1.5
    key = next(key for key in desk.platform.cache.items if key.endswith(b"snapshot:hand") and b"last" not in key)
    desk.platform.cache.obliged.add(key)  # somebody else is at it
    desk.platform.sent.clear()
    _, answer, _ = desk.ask("/hand/", waiting)
    assert (answer.status, desk.platform.sent["redis"]) == (503, 0)
    desk.platform.cache.obliged.clear()
    desk.ask("/hand/", waiting)
    assert desk.platform.sent["redis"] == 1


def test_without_the_cache_redis_is_asked_directly(desk: Desk) -> None:
    waiting = place(desk, "hand")
    desk.platform.broken = {"transaction-lookup-async", "insert", "lookup"}
    desk.platform.sent.clear()
    _, answer, page = desk.ask("/hand/", waiting)
    assert answer.status == 503
    assert 'data-state="waiting"' in page
    assert desk.platform.sent["redis"] == 1
    assert desk.platform.lines("shared.failed")


def test_a_host_that_writes_little_at_a_time_gets_it_all(desk: Desk) -> None:
    whole = desk.ask("/hand/")[2]
    desk.platform.write_at_most = 100
    assert len(desk.ask("/hand/")[2]) == len(whole)
    assert desk.ask("/calm/")[1].status == 200, "the requests to Redis arrive whole as well"


def test_one_deadline_for_all_that_a_decision_asks(desk: Desk, silence: str) -> None:
    desk.platform.backends["redis"] = Backend(silence)
    for path, statuses in (("/hand/", (429, 503)), ("/calm/", (429, 503))):
        desk.platform.cache.items.clear()
        start = time.monotonic()
        _, answer, _ = desk.ask(path)
        assert answer.status in statuses
        assert 0.7 < time.monotonic() - start < 3, "0.8 s for Redis, and the machine's own time"


def test_while_redis_fails_nobody_else_waits_for_it(desk: Desk) -> None:
    desk.platform.backends["redis"] = Backend("http://127.0.0.1:9")
    waiting_since = time.monotonic()
    for _ in range(10):
        assert desk.ask("/hand/")[1].status in (429, 503)
    assert desk.platform.sent["redis"] <= 2 + 2 * (time.monotonic() - waiting_since)


def test_redis_away_lets_as_many_in_as_the_queue_says(desk: Desk) -> None:
    desk.platform.backends["redis"] = Backend("http://127.0.0.1:9")
    desk.ask("/let/")
    desk.platform.cache.put(b"stanchion/away", str(round(time.time() * 1000) - 10_000).encode(), 10**10, 0)
    for key in [key for key in desk.platform.cache.items if key.endswith(b"snapshot:let")]:
        del desk.platform.cache.items[key]
    statuses = []
    for _ in range(4):
        statuses.append(desk.ask("/let/")[1].status)
        desk.platform.cache.ahead_s += 1
    assert statuses.count(200) == 1, "two a minute: one in each half of it"


def _held_within_s(desk: Desk, seconds: float) -> bool:
    end_s = time.monotonic() + seconds
    while time.monotonic() < end_s:
        _, answer, _ = desk.ask("/few/", client="203.0.113.9")
        if answer.status != 200:
            return True
        time.sleep(0.3)
    return False


def test_new_visits_are_counted_by_the_point_of_presence_though_a_sandbox_sees_one(desk: Desk) -> None:
    desk.platform.counters.clear()
    for number in range(4):
        _, answer, _ = desk.ask("/few/", client=f"192.0.{number}.1")
        assert answer.status == 200
    assert desk.platform.counters["places visits few"] == 4
    assert _held_within_s(desk, 10)


def test_without_a_rate_counter_the_log_says_that_visits_are_not_counted(desk: Desk) -> None:
    del desk.platform.settings["STANCHION_RATE_COUNTER"]
    desk.ask("/few/", client="192.0.2.1")
    desk.ask("/calm/")
    lines = [str(line) for line in desk.platform.lines("counter.failed")]
    assert len(lines) == 1
    assert "STANCHION_RATE_COUNTER" in lines[0]
    assert "start_queueing_above" in lines[0]


def test_the_last_good_configuration_stays(desk: Desk) -> None:
    desk.ask("/hand/")
    desk.platform.kv = lambda key: b'{"queues": ['
    assert desk.ask("/about")[1].status == 200
    assert "stanchion-hand.c" in cookies(desk.ask("/hand/")[1])
    desk.platform.kv = None
    assert desk.ask("/about")[1].status == 200
    desk.platform.cache.items.clear()
    assert desk.ask("/about")[1].status == 503, "a point of presence that knows nothing holds"
    desk.platform.settings["STANCHION_ON_CONFIG_ERROR"] = "pass"
    assert desk.ask("/about")[1].status == 200, "or passes, where the deployment says so"
    assert desk.ask("/.stanchion/health")[1].status == 200


BROKEN = (
    "http-req#[method]request.get-header-values", "http-req#[method]request.get-header-names",
    "http-req#[method]request.get-uri", "http-req#await-response", "http-body#read", "cache#await-entry",
    "kv-store#[method]store.lookup-async", "secret-store#[method]store.get", "config-store#[static]store.open",
    "backend#[static]backend.open", "log#[static]endpoint.open",
)  # fmt: skip


@pytest.mark.parametrize("broken", BROKEN)
def test_whatever_fails_a_visitor_gets_one_answer(desk: Desk, broken: str) -> None:
    desk.platform.broken = {broken}
    for path in ("/hand/", "/calm/", "/about", "/.stanchion/hand/status"):
        _, answer, body = desk.ask(path)
        assert answer.status == 200 or answer.values("retry-after"), f"{path}: {answer.status}"
        assert "Traceback" not in body


def test_a_surprise_is_answered_as_the_queue_says_and_passes_where_nobody_guards(desk: Desk) -> None:
    desk.platform.broken = {"http-req#[method]request.get-header-values"}
    assert desk.ask("/hand/")[1].status == 503
    assert desk.ask("/about", "a=1")[1].status == 200
    assert desk.platform.lines("edge.fault")


def test_an_answer_that_cannot_be_sent_is_not_sent_again(desk: Desk) -> None:
    desk.platform.broken = {"send-downstream"}
    sandbox = desk.double.server.host.run(desk.sandbox(), desk.request("/hand/"), Body())
    assert sandbox.trap == ""
    assert sandbox.calls.count("http-resp#send-downstream") == 1


def test_trouble_with_the_origins_answer_costs_the_additions_only(desk: Desk) -> None:
    desk.platform.broken = {"http-resp#[method]response.get-header-names"}
    assert desk.ask("/calm/")[1].status == 200
    assert desk.platform.lines("gate.conclude_failed")


def test_the_country_comes_from_the_platform(desk: Desk) -> None:
    del desk.platform.settings["STANCHION_COUNTRY_TRUST_ALL"]
    desk.platform.countries = {"192.0.2.1": "JP", "192.0.2.2": "FR", "192.0.2.3": "jp"}
    assert desk.ask("/country/", client="192.0.2.1")[1].status == 503
    assert desk.ask("/country/", client="192.0.2.2")[1].status == 200
    assert desk.ask("/country/", client="192.0.2.3")[1].status == 503, "unknown is refused"
    assert desk.ask("/country/", client="192.0.2.2", headers=(("x-country", b"JP"),))[1].status == 200, "nobody says where he is"
    desk.platform.broken = {"geo#lookup"}
    assert desk.ask("/country/", client="192.0.2.2")[1].status == 503


def test_the_sites_word_in_a_header_leads_to_its_lane(desk: Desk) -> None:
    secret = desk.platform.secrets["lane.vouch"] = "a secret of the shop with 32 bytes and more"
    word = jwt.encode({"lane": "members", "exp": int(time.time()) + 600}, secret, "HS256").encode()
    for headers, lane in (((("x-member", word),), "members"), ((), "standard")):
        first = cookies(desk.ask("/vouch/", headers=headers)[1])
        held = cookies(desk.ask("/vouch/", first)[1])
        assert json.loads(desk.ask("/.stanchion/vouch/status", held)[2])["lane"] == lane


@pytest.mark.parametrize("address", ["192.0.2.7", "2001:db8::7"])
def test_the_log_names_no_visitor(desk: Desk, address: str) -> None:
    desk.ask("/hand/tickets?name=somebody", client=address)
    text = "\n".join(desk.platform.log)
    (line,) = desk.platform.lines("request")
    assert (line["path"], line["status"], line["verb"]) == ("/hand/tickets", 503, "respond")
    assert line["why"]
    assert address not in text
    assert "somebody" not in text
    assert "e2e1" not in text


def test_the_origin_learns_where_the_visitor_is_and_nobody_forges_it(desk: Desk) -> None:
    forged = tuple((name, b"6.6.6.6") for name in ("x-forwarded-for", "X_Forwarded_For", "forwarded", "stanchion-pass"))
    _, _, body = desk.ask("/about", client="2001:db8::7", headers=forged)
    assert '"x-forwarded-for", "2001:db8::7"' in body
    assert "6.6.6.6" not in body


def test_values_larger_than_a_buffer_are_read_whole(desk: Desk) -> None:
    waiting = place(desk, "hand")
    many = tuple((f"x-{number}", b"y" * 200) for number in range(600))
    _, answer, page = desk.ask("/hand/", f"{'z' * 40_000}=1; {waiting}", headers=many)
    assert answer.status == 503
    assert 'data-state="waiting"' in page


def test_a_message_is_what_the_tests_think_it_is() -> None:
    message = Message(headers=[("A", b"1"), ("a", b"2")])
    assert message.values("a") == [b"1", b"2"]
