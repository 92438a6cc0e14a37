"""Redis goes away, is slow, loses its memory; the store goes away; the origin falls over; keys change: answers stay answers."""

from __future__ import annotations

import json
import shutil
import signal
import time
from collections.abc import Iterator

import httpx
import pytest

from edge.core.keyring import Keyring
from edge.core.page_set import PageSet, page_set_key, write_page_set
from edge.core.pages import page_key
from tests.conformance.hosts import chosen
from tests.conformance.limits import limited
from tests.conformance.world import KEYS, World, place, running
from tests.e2e.stack import PATIENCE_S, enter, queue, status, until
from tests.host.rest.servers import free_port

OTHER_KEY = "next1:" + "B" * 43
# The guest gives Redis 0.8 s in all; the rest is the host's and the machine's.
BUDGET_S = 2.5
QUEUES = [
    queue("hold", manual=True, idle_s=30, renew_every_s=10, settle_s=2, presence_grace_s=20),
    queue("open", admit_per_minute=100_000, burst=1000, idle_s=30, renew_every_s=10, settle_s=2, presence_grace_s=20),
    queue("let", manual=True, on_store_error="admit", store_error_admit_per_minute=1),
]


@pytest.fixture(scope="module")
def world(tmp_path_factory: pytest.TempPathFactory) -> Iterator[World]:
    """An edge of its own for the troubles of this module, in the order in which they stand here."""
    with running(chosen(), tmp_path_factory.mktemp("trouble"), QUEUES) as started:
        yield started


def ends_well(answer: httpx.Response) -> bool:
    """Whether an answer in trouble is one that a visitor may see."""
    return answer.status_code < 500 or "retry-after" in answer.headers


def test_a_broken_configuration_changes_nothing(world: World) -> None:
    for text in ('{"queues": [', '{"queues": ' + "[" * 100_000, '{"queues": [{"id": "Not An Id"}]}'):
        world.publish(text)
        assert world.visitor().get("/hold/").status_code == 503
        assert world.visitor().get("/.stanchion/health").status_code == 200
    world.publish(QUEUES)


@limited("memory", "last_configuration")
def test_the_last_good_configuration_stays(world: World) -> None:
    world.publish('{"queues": [')
    try:
        assert world.visitor().get("/about").status_code == 200
        assert "stanchion-hold.c" in world.visitor().get("/hold/").headers["set-cookie"]
    finally:
        world.publish(QUEUES)


def test_a_changed_configuration_and_page_are_in_force_soon(world: World) -> None:
    extra = queue("extra", manual=True, held_status=202)
    world.begin([extra])
    page = '<!doctype html><html lang="en"><head><title>x</title></head><body><p>Hello {{queue_name}}</p></body></html>'
    first = {page_key("default", 1, "en", "waiting"): page, page_set_key("default"): write_page_set(PageSet(1, 0, ("en",)))}
    world.publish([*QUEUES, extra], first)
    answer = world.visitor().get("/extra/")
    assert answer.status_code == 202
    assert "<p>Hello Queue extra</p>" in answer.text
    broken = {page_key("default", 2, "en", "waiting"): "<html><body><p>{{nonsense}}</p></body></html>",
              page_set_key("default"): write_page_set(PageSet(2, 1, ("en",)))}  # fmt: skip
    world.publish([*QUEUES, extra], broken)
    answer = world.visitor().get("/extra/")
    assert answer.status_code == 202
    assert "<p>Hello Queue extra</p>" in answer.text, "the version before stays"
    shutil.rmtree(world.site.kv / "pages")
    world.publish(QUEUES)


def test_the_store_away_lets_nobody_past(world: World) -> None:
    waiting = place(world, "hold")
    world.host.lose_store(world.site)
    time.sleep(world.host.publish_in_force_s)
    try:
        for visitor in (waiting, world.visitor()):
            answer = visitor.get("/hold/")
            assert answer.status_code == 503
            assert "retry-after" in answer.headers
    finally:
        world.host.find_store(world.site)
    time.sleep(world.host.publish_in_force_s)
    assert status(waiting, "hold")["state"] == "waiting"


def test_redis_slow_costs_time_within_the_budget_and_no_place(world: World) -> None:
    inside, waiting = world.visitor(), place(world, "hold")
    enter(inside, "/open/")
    taken = status(waiting, "hold")["position"]
    assert world.redis.process is not None
    world.redis.process.send_signal(signal.SIGSTOP)
    try:
        start = time.monotonic()
        answers = [waiting.get("/hold/"), world.visitor().get("/hold/"), inside.get("/open/")]
        assert time.monotonic() - start < 3 * BUDGET_S
        assert [answer.status_code for answer in answers[:2]] == [503, 503] or all(map(ends_well, answers[:2]))
        assert answers[2].status_code == 200, "those inside go on"
    finally:
        world.redis.process.send_signal(signal.SIGCONT)
    assert until(waiting, "hold", "waiting")["position"] == taken


def test_redis_away_no_error_reaches_a_visitor(world: World) -> None:
    inside, waiting = world.visitor(), place(world, "hold")
    enter(inside, "/open/")
    taken = status(waiting, "hold")
    world.redis.kill()
    start = time.monotonic()
    early = waiting.get("/hold/")
    assert early.status_code == 503
    assert time.monotonic() - start < BUDGET_S, "an answer within the time budget"
    while time.monotonic() - start < world.host.away_after_s:
        assert inside.get("/open/").status_code == 200, "those inside go on"
        assert world.visitor().get("/hold/").status_code in (429, 503)
        time.sleep(0.5)
    assert until(waiting, "hold", "unavailable")["position"] == taken["position"]
    assert "right back" in waiting.get("/hold/").text.lower()


@limited("memory")
def test_redis_away_some_are_let_in_where_the_queue_says_so(world: World) -> None:
    guest = world.visitor()
    assert guest.get("/let/").status_code == 200, "admit lets some in"
    assert guest.get("/let/x").status_code == 200
    assert world.visitor().get("/let/").status_code == 503, "and no more than it says"


def test_redis_back_without_its_memory_keeps_order_and_lets_nobody_in_early(world: World) -> None:
    world.redis.start()
    world.republish()
    visitors: list[httpx.Client] = []
    until(world.visitor(), "hold", "candidate")
    for _ in range(3):
        visitors.append(world.visitor())
        visitors[-1].get("/hold/")
    deadline = time.monotonic() + PATIENCE_S
    while not all(status(visitor, "hold")["position"] for visitor in visitors):
        assert time.monotonic() < deadline, "no places after Redis came back"
        time.sleep(0.3)
    old_epoch = status(visitors[0], "hold")["epoch"]
    assert world.redis.command("FLUSHALL") == "+OK"
    world.republish()
    places: list[int] = []
    while len(places) < 3:
        assert time.monotonic() < deadline + PATIENCE_S
        found = [status(visitor, "hold") for visitor in reversed(visitors)]
        places = [state["position"] for state in found if state["epoch"] != old_epoch and state["state"] == "waiting"]
        time.sleep(0.3)
    assert places == sorted(places, reverse=True)
    assert world.visitor().get("/open/").status_code == 503, "no new admission until old passes are accounted for"


def test_keys_are_changed_without_losing_anybody(world: World) -> None:
    world.operate("hold", "reset")
    visitor = place(world, "hold")
    before, first = status(visitor, "hold")["position"], dict(visitor.cookies)
    world.host.restart(world.site, signing_keys=f"{OTHER_KEY} {KEYS}")
    visitor.base_url = world.edge
    assert status(visitor, "hold")["position"] == before, "a token of the old key is good"
    newcomer = place(world, "hold")
    kind, _ = Keyring.parse(OTHER_KEY).verify(newcomer.cookies["stanchion-hold"])
    assert kind == "place"
    world.host.restart(world.site, signing_keys=OTHER_KEY)
    visitor.base_url = newcomer.base_url = world.edge
    assert status(newcomer, "hold")["position"] == before + 1
    # A place that was asked for since then, as on a host that starts slowly, has the new key by now.
    visitor.cookies = httpx.Cookies(first)
    assert status(visitor, "hold")["state"] == "candidate", "the old key is worth nothing any more"


def test_the_origin_down_is_said_in_words_and_costs_one_slot(tmp_path_factory: pytest.TempPathFactory) -> None:
    nowhere = f"http://127.0.0.1:{free_port()}"
    with running(chosen(), tmp_path_factory.mktemp("nowhere"), [queue("one", max_active=1)], origin_url=nowhere) as world:
        answer = world.visitor().get("/about")
        assert answer.status_code in (502, 504)
        assert "no-store" in answer.headers["cache-control"]
        assert "Traceback" not in answer.text
        assert answer.headers["content-type"].startswith("text/html")
        program = world.visitor(Accept="application/json").get("/about")
        assert program.headers["content-type"] == "application/problem+json"
        assert program.json()["status"] == program.status_code == answer.status_code
        assert program.json()["detail"] in answer.text
        visitor = world.visitor()
        deadline = time.monotonic() + PATIENCE_S
        while (answer := visitor.get("/one/")).status_code not in (502, 504):
            assert time.monotonic() < deadline, f"never let in: {answer.status_code} {answer.text[:300]}"
            time.sleep(0.2)
        assert "set-cookie" in answer.headers
        assert [visitor.get("/one/").status_code for _ in range(2)] == [answer.status_code] * 2, "still inside"
        assert world.visitor().get("/one/").status_code == 503, "the only slot is the visitor's"
        assert json.loads(visitor.get("/.stanchion/health").text)["status"] == "ok"
