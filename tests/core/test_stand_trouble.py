"""Redis away, slow or busy: what the queue names, and nobody loses a place."""

from __future__ import annotations

from typing import Any

import pytest

from edge.core.messages import Reply
from tests.core.support import (
    JSON,
    MANUAL,
    Browser,
    Got,
    World,
    away,
    busy,
    failing,
    full,
    only,
    queue,
    recorded,
    slow,
    waiting,
)

ADMITTING: dict[str, Any] = {"on_store_error": "admit", "store_error_admit_per_minute": 2}


def held_as(got: Got) -> tuple[int, str]:
    return got.status, got.slot("state") if not got.body.startswith("{") else got.json["state"]


def test_hold_keeps_the_page_and_the_place() -> None:
    world = World()
    full(world)
    browser = waiting(world)
    position = browser.token()["p"]
    world.pass_time(1)
    world.fault = away(5_000)
    got = browser.get()
    assert held_as(got) == (503, "unavailable")
    assert got.slot("page") == "default/en/unavailable"
    assert int(got.slot("position")) == position
    stranger = Browser(world).get()
    assert held_as(stranger) == (503, "unavailable")
    world.fault = None
    world.pass_time(1)
    assert browser.status().json["position"] == position


def test_before_five_seconds_it_is_a_delay() -> None:
    world = World(queue(**MANUAL, **ADMITTING))
    browser = waiting(world)
    world.pass_time(30)
    world.fault = away(4_999)
    got = browser.status()
    assert (got.status, got.json["state"], got.json["position"]) == (200, "waiting", 1)
    stranger = Browser(world)
    got = stranger.get()
    assert held_as(got) == (429, "candidate")
    assert stranger.value("stanchion-launch.c")


def test_a_stale_snapshot_serves_until_then_and_no_longer() -> None:
    world = World(queue(**MANUAL))
    browser = waiting(world)
    kept = recorded(world)
    world.pass_time(1)
    Browser(world).get("/launch/", "HEAD")
    world.pass_time(2)
    stale = Reply(kept[0].results, age_ms=2000)
    world.fault = only("snapshot", lambda batch: Reply(failed="away", away_ms=2000, stale=stale))
    got = browser.status()
    assert (got.json["state"], got.json["position"]) == ("waiting", 1)
    world.fault = only("snapshot", lambda batch: Reply(failed="away", away_ms=6000, stale=stale))
    assert browser.status().json["state"] == "unavailable"
    assert Browser(world).get().slot("state") == "unavailable"
    assert Browser(world).get("/launch/", "HEAD").status == 503
    world.fault = only("snapshot", lambda batch: Reply(failed="slow", stale=stale))
    assert browser.status().json["state"] == "waiting"


def test_admit_lets_so_many_a_minute_in_with_a_marked_pass() -> None:
    world = World(queue(**MANUAL, **ADMITTING))
    world.fault = away()
    browsers = [Browser(world, client=f"198.51.{n}.1") for n in range(4)]
    got = [browser.get() for browser in browsers]
    assert [each.forwarded is not None for each in got] == [True, True, False, False]
    assert held_as(got[2]) == (503, "unavailable")
    token = browsers[0].token()
    assert (token["m"], token["p"], token["e"]) == (1, 0, "")
    assert token["x"] == (world.now_ms + 120_000) // 1000
    assert got[0].forwarded
    assert got[0].forwarded.origin_pass
    assert world.node.context.node.store_error_admissions == 2
    for _ in range(3):
        world.pass_time(30)
        assert browsers[0].get().forwarded
    assert browsers[2].get().forwarded  # the next minute
    world.fault = None
    world.pass_time(20)
    assert browsers[0].get().forwarded  # until it ends, also with the store back
    world.pass_time(15)
    assert browsers[0].get().forwarded is None


def test_nobody_is_let_in_by_asking_for_the_status() -> None:
    world = World(queue(**MANUAL, **ADMITTING))
    world.fault = away()
    browser = Browser(world)
    assert browser.status().json["state"] == "unavailable"
    assert world.node.context.node.store_error_admissions == 0


def test_who_had_a_place_finds_it_again_behind_the_marked_pass() -> None:
    world = World(queue(**MANUAL, **ADMITTING))
    browser = waiting(world)
    place = browser.token()
    world.pass_time(30)
    world.fault = away()
    assert browser.get().forwarded
    assert browser.status().json["state"] == "inside"
    world.fault = None
    world.pass_time(121)
    status = browser.status().json
    assert (status["state"], status["position"]) == ("waiting", 1)
    assert {key: browser.token()[key] for key in "evp"} == {key: place[key] for key in "evp"}


def test_a_candidate_keeps_its_cookie_through_a_marked_pass() -> None:
    world = World(queue(**MANUAL, **ADMITTING))
    browser = Browser(world)
    browser.get()
    visitor = browser.token("stanchion-launch.c")["v"]
    world.fault = away()
    assert browser.get().forwarded
    world.fault = None
    world.pass_time(121)
    assert browser.status().json["position"] == 1
    assert browser.token()["v"] == visitor


@pytest.mark.parametrize("fault", [slow, busy, failing("ERR max requests limit exceeded"), lambda batch: Reply([])])
def test_overload_is_not_absence(fault: Any) -> None:
    world = World(queue(**MANUAL, **ADMITTING))
    line = waiting(world)
    world.pass_time(30)
    hopeful = Browser(world)
    hopeful.get()
    world.pass_time(1)
    world.fault = fault
    cookie = hopeful.value("stanchion-launch.c")
    retries = set()
    for _ in range(12):
        got = hopeful.get()
        assert held_as(got) == (429, "candidate")
        assert got.slot("page") == "default/en/busy"
        retries.add(int(got.header("Retry-After")))
    assert hopeful.value("stanchion-launch.c") == cookie
    assert min(retries) >= 3
    assert max(retries) <= 10
    assert len(retries) > 3  # jittered
    got = line.get("/launch/", headers={"accept": JSON})
    assert (got.status, got.json["state"], got.json["position"], got.json["ahead"]) == (503, "waiting", 1, 0)
    assert world.node.context.node.store_error_admissions == 0


def test_a_claim_that_got_no_answer_is_found_again() -> None:
    world = World(queue(**MANUAL))
    browser = waiting(world)
    world.admit(1)
    world.pass_time(1)
    world.on_reply = lambda batch, reply: Reply(failed="slow") if batch.name == "touch" else reply
    assert browser.get().forwarded is None
    assert world.snapshot().inside == 1
    world.on_reply = None
    world.pass_time(5)
    assert browser.get().forwarded
    assert world.snapshot().inside == 1
    assert world.snapshot().admitted_last_minute == 1
