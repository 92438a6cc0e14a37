"""One visitor's step: passes and their renewal, places in line, and dead cookies."""

from __future__ import annotations

from typing import Any

import pytest

from edge.core.commands import EndReason
from edge.core.messages import Reply
from tests.core.support import (
    MANUAL,
    Browser,
    World,
    away,
    busy,
    end,
    failing,
    forged,
    full,
    only,
    queue,
    set_cookies,
    slow,
    waiting,
)


def test_a_request_of_someone_inside_costs_no_command_and_no_cookie() -> None:
    world = World()
    (inside,) = full(world, 1)
    for _ in range(20):
        world.pass_time(0.02)
        got = inside.get()
        assert got.forwarded is not None
        assert (got.calls, got.headers) == ([], [])


def test_a_pass_is_renewed_once_due_and_the_new_cookie_is_set() -> None:
    world = World()
    (inside,) = full(world, 1)
    before = inside.token()
    world.pass_time(59)
    assert not inside.get().all("Set-Cookie")
    world.pass_time(2)
    got = inside.get()
    assert "renew" in got.calls
    assert set(set_cookies(got)) == {"stanchion-launch"}
    after = inside.token()
    assert (after["p"], after["v"], after["e"]) == (before["p"], before["v"], before["e"])
    assert (after["x"] - before["x"], after["r"] - before["r"]) == (61, 61)
    assert not inside.get().all("Set-Cookie")


def test_requests_under_way_at_the_renewal_share_it() -> None:
    world = World()
    (inside,) = full(world, 1)
    world.pass_time(61)
    old = dict(inside.jar)
    assert "renew" in inside.get().calls
    for _ in range(10):
        inside.jar = dict(old)  # sent before the new cookie arrived
        got = inside.get()
        assert got.forwarded is not None
        assert got.calls == []
        assert set(set_cookies(got)) == {"stanchion-launch"}


def test_a_pass_that_is_used_goes_on_and_an_idle_one_ends() -> None:
    world = World(queue(max_active=1, admit_per_minute=None, burst=None))
    (inside,) = full(world, 1)
    for _ in range(10):
        world.pass_time(100)
        assert inside.get().forwarded
    assert world.snapshot().inside == 1
    world.pass_time(301)
    other = Browser(world, client="198.51.9.1")
    other.get()
    world.pass_time(6)
    assert other.get().forwarded
    assert inside.get().forwarded is None
    assert world.snapshot().inside == 1


def test_an_expired_pass_makes_a_newcomer_whose_dead_cookie_is_taken_away() -> None:
    world = World()
    (inside,) = full(world, 1)
    world.pause()
    world.pass_time(301)
    got = inside.get()
    assert got.slot("state") == "candidate"
    assert "Max-Age=0" in set_cookies(got)["stanchion-launch"]
    assert "Max-Age=900" in set_cookies(got)["stanchion-launch.c"]


@pytest.mark.parametrize("reason", ["revoked", "completed", "left"])
def test_an_ended_pass_is_refused_within_the_snapshots_age(reason: EndReason) -> None:
    world = World()
    (inside,) = full(world, 1)
    copy = Browser(world, node=world.new_node())
    copy.jar = dict(inside.jar)
    assert copy.get().forwarded
    end(world, inside, reason)
    world.pause()
    world.pass_time(0.501)
    for browser in (inside, copy):
        got = browser.get()
        assert got.forwarded is None
        assert got.slot("state") == "candidate"


def test_a_pass_beyond_the_list_of_ended_ones_is_caught_at_its_renewal() -> None:
    world = World()
    (inside,) = full(world, 1)
    end(world, inside)
    world.redis.delete("st:{launch}:ended")
    world.pause()
    world.pass_time(1)
    assert inside.get().forwarded
    world.pass_time(61)
    assert inside.get().forwarded is None


@pytest.mark.parametrize("fault", [away(100), away(), slow, busy])
def test_an_ended_pass_lets_nobody_in_because_the_store_fails_just_then(fault: Any) -> None:
    world = World()
    (inside,) = full(world, 1)
    end(world, inside)
    world.pass_time(1)
    world.fault = only("join", fault)
    assert inside.get().forwarded is None
    assert inside.get().forwarded is None


def test_an_ended_visit_may_join_again_as_somebody_new() -> None:
    world = World()
    (inside,) = full(world, 1)
    before = inside.token()
    end(world, inside)
    world.pass_time(1)
    assert inside.get().forwarded
    after = inside.token()
    assert after["v"] != before["v"]
    assert after["p"] > before["p"]


def test_a_pause_touches_nobody_inside() -> None:
    world = World()
    (inside,) = full(world, 1)
    world.pause()
    for _ in range(5):
        world.pass_time(70)
        assert inside.get().forwarded


def test_those_inside_go_on_whatever_the_store_does() -> None:
    for fault in (away(), away(100), slow, busy, failing("ERR broken"), failing("NOSCRIPT"), lambda batch: Reply([])):
        world = World()
        (inside,) = full(world, 1)
        world.fault = fault
        for wait_s in (1, 70, 100):
            world.pass_time(wait_s)
            got = inside.get()
            assert got.forwarded is not None
            assert got.forwarded.origin_pass
        world.pass_time(200)
        assert inside.get().forwarded is None  # and not beyond the end of the pass


def test_an_answer_of_another_version_of_the_script_ends_nobodys_visit() -> None:
    world = World()
    (inside,) = full(world, 1)
    world.pass_time(61)
    for verdict in (["busy"], ["missing"], ["inside"], ["inside", "1"], ["what"], []):
        world.fault = only("renew", lambda batch, said=verdict: Reply([{"result": [said, []]}]))  # type: ignore[misc]
        assert inside.get().forwarded, verdict


def test_a_pass_of_a_lost_epoch_is_taken_over() -> None:
    world = World()
    (inside,) = full(world, 1)
    world.redis.flushall()
    world.pass_time(1)
    got = inside.get()
    assert got.forwarded is not None
    assert "configure" in got.calls
    assert "renew" in got.calls
    assert inside.token()["e"] == world.snapshot().epoch
    assert world.snapshot().status == "recovering"
    assert world.snapshot().inside == 1
    assert inside.get().calls == []


def test_a_waiting_visitors_poll_costs_no_command_of_its_own() -> None:
    world = World(queue(**MANUAL))
    browser = waiting(world)
    world.pass_time(0.1)
    for _ in range(5):
        world.pass_time(0.05)
        assert browser.status().calls == []


def test_near_the_head_a_sign_of_life_goes_out_each_twenty_seconds() -> None:
    world = World(queue(**MANUAL))
    browser = waiting(world)
    touches = 0
    for _ in range(60):
        world.pass_time(5)
        touches += "touch" in browser.status().calls
    assert touches == 300 // 20
    assert browser.status().json["position"] == 1


def test_a_place_is_issued_again_at_half_its_life_and_lives_on() -> None:
    world = World(queue(**MANUAL))
    browser = waiting(world)
    world.pause()  # so that nothing else sets the cookie
    world.pass_time(1)
    claims = browser.token()
    for left_s, is_reissued in ((12 * 3600 + 60, False), (12 * 3600 - 60, True), (60, True)):
        old = forged(world, "place", claims | {"x": world.now_ms // 1000 + left_s})
        browser.jar["__Host-stanchion-launch"] = (old, 2**53)
        got = browser.status()
        assert got.json["position"] == 1
        assert ("stanchion-launch" in set_cookies(got)) is is_reissued
        if is_reissued:
            assert "Max-Age=86400" in set_cookies(got)["stanchion-launch"]
            assert browser.token() == claims | {"x": world.now_ms // 1000 + 24 * 3600}


def test_paused_keeps_the_position_on_the_page_too() -> None:
    world = World(queue(**MANUAL))
    browser = waiting(world)
    world.pause()
    world.pass_time(1)
    got = browser.get()
    assert (got.slot("page"), got.slot("position")) == ("default/en/paused", "1")


def test_with_a_full_minute_the_turn_is_kept_and_poll_says_when() -> None:
    world = World(queue(admit_per_minute=6, burst=1))
    full(world, 1)
    second = waiting(world, client="198.51.7.1")
    world.pass_time(1)
    status = second.status().json
    assert status["state"] == "called"
    assert 1 < status["poll_s"] <= 10
    assert second.get().forwarded is None
    world.pass_time(status["poll_s"])
    assert second.get().forwarded


def test_the_page_of_a_turn_says_how_long_it_is_kept() -> None:
    world = World(queue(admit_per_minute=6, burst=1, claim_within_s=60))
    full(world, 1)
    second = waiting(world, client="198.51.7.1")
    world.pass_time(1)
    got = second.get()
    assert (got.slot("page"), got.slot("ahead")) == ("default/en/called", "0")
    assert 50 <= int(got.slot("claim_left_s")) <= 70
    assert int(got.slot("poll_s")) == int(got.header("Retry-After"))


@pytest.mark.parametrize("value", ["junk", "", '"quoted"', "a.b.c", "x" * 5000, "é"])
def test_a_dead_cookie_is_taken_away_and_no_error(value: str) -> None:
    world = World(queue(**MANUAL))
    browser = Browser(world)
    header = f"__Host-stanchion-launch={value}; __Host-stanchion-launch.c={value}"
    for target in ("/launch/", "/.stanchion/launch/status"):
        got = browser.get(target, headers={"cookie": header})
        assert got.status in (200, 503)
        assert "Max-Age=0" in set_cookies(got)["stanchion-launch"]
        assert "Max-Age=900" in set_cookies(got)["stanchion-launch.c"]


def test_a_dead_candidate_beside_a_good_place_is_taken_away_too() -> None:
    world = World(queue(**MANUAL))
    browser = waiting(world)
    browser.jar["__Host-stanchion-launch.c"] = ("junk", 2**53)
    got = browser.status()
    assert got.json["position"] == 1
    assert "Max-Age=0" in set_cookies(got)["stanchion-launch.c"]


def test_a_dead_candidate_beside_a_good_pass_is_taken_away_once() -> None:
    world = World()
    (inside,) = full(world, 1)
    inside.jar["__Host-stanchion-launch.c"] = ("junk", 2**53)
    got = inside.get()
    assert got.forwarded is not None
    assert set(set_cookies(got)) == {"stanchion-launch.c"}
    assert not inside.get().headers
