"""One visitor's step: passes, places, renewals, what a node remembers, the cap of a network, and trouble with Redis."""

from __future__ import annotations

from typing import Any

import pytest

from edge.core import commands
from edge.core.messages import Batch, Reply
from tests.core.support import (
    JSON,
    Browser,
    Got,
    World,
    away,
    busy,
    failing,
    forged,
    full,
    only,
    queue,
    recorded,
    set_cookies,
    slow,
)

MANUAL: dict[str, Any] = {"manual": True, "admit_per_minute": None, "burst": None}
ADMITTING: dict[str, Any] = {"on_store_error": "admit", "store_error_admit_per_minute": 2}


def end(world: World, browser: Browser, reason: Any = "revoked") -> None:
    token = browser.token()
    world.run(commands.end("launch", token["e"], token["p"], token["v"], reason, world.hex()))


def waiting(world: World, **values: Any) -> Browser:
    browser = Browser(world, **values)
    browser.join()
    return browser


# --- inside -------------------------------------------------------------------------------------------------------------


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
def test_an_ended_pass_is_refused_within_the_snapshots_age(reason: str) -> None:
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


# --- a pass that could not be delivered ---------------------------------------------------------------------------------

PUBLIC = (200, [("cache-control", "public, max-age=60")])


def test_a_site_of_shared_pages_costs_no_command_a_request_and_keeps_its_visitors() -> None:
    world = World(queue(**MANUAL))
    browser = waiting(world)
    world.admit(1)
    world.pass_time(1)
    assert browser.get(answer=PUBLIC).forwarded  # admitted; the pass cannot be attached
    assert "t" in browser.token()  # still the cookie of the place
    commands_sent = 0
    for _ in range(100):
        world.pass_time(10)
        got = browser.get(answer=PUBLIC)
        assert got.forwarded is not None
        commands_sent += len([name for name in got.calls if name != "snapshot"])
    assert commands_sent <= 17  # one renewal in 60 s
    assert world.snapshot().inside == 1
    got = browser.get()  # at last an answer that may carry it
    assert set(set_cookies(got)) == {"stanchion-launch"}
    assert "r" in browser.token()


def test_on_another_node_such_a_visit_goes_on_too_and_does_not_run_out_while_it_is_used() -> None:
    world = World(queue(**MANUAL))
    browser = waiting(world)
    world.admit(1)
    world.pass_time(1)
    assert browser.get(answer=PUBLIC).forwarded
    for _ in range(10):
        world.pass_time(100)
        browser.node = world.new_node()
        got = browser.get(answer=PUBLIC)
        assert got.forwarded is not None, got.decision
    assert world.snapshot().inside == 1


def test_a_newcomer_whose_pass_cannot_be_delivered_gives_the_slot_back() -> None:
    world = World()
    browser = Browser(world)
    got = browser.get(answer=PUBLIC)
    assert got.forwarded is not None
    assert got.calls[-1] == "end"
    assert world.snapshot().inside == 0
    assert not got.all("Set-Cookie")


def test_a_reset_turns_a_visit_on_a_place_cookie_into_a_place_in_the_new_line() -> None:
    world = World(queue(**MANUAL))
    browser = waiting(world)
    world.admit(1)
    world.pass_time(1)
    browser.get(answer=PUBLIC)
    world.reset()
    world.pass_time(1)
    got = browser.get()
    assert got.slot("state") == "waiting"
    assert browser.token()["e"] == world.snapshot().epoch


# --- in line ------------------------------------------------------------------------------------------------------------


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


# --- the network's cap --------------------------------------------------------------------------------------------------


def candidates(world: World, count: int, client: str = "203.0.113.9") -> list[Browser]:
    browsers = [Browser(world, client=client) for _ in range(count)]
    for browser in browsers:
        browser.get()
    return browsers


def test_places_of_one_network_are_capped_and_the_rest_stay_candidates() -> None:
    world = World(queue(**MANUAL, places_per_network_per_minute=3))
    browsers = candidates(world, 5)
    answers = [browser.status() for browser in browsers]
    assert [got.status for got in answers] == [200, 200, 200, 429, 429]
    last = answers[-1]
    assert last.json["state"] == "candidate"
    assert 20 <= int(last.header("Retry-After")) <= 60
    assert last.calls == []
    assert world.node.context.node.refused_places == 2
    assert browsers[-1].value("stanchion-launch.c")
    page = browsers[-1].get()
    assert (page.status, page.slot("page")) == (429, "default/en/busy")
    assert int(page.slot("refresh_s")) >= 20
    assert candidates(world, 1, "198.51.100.1")[0].status().status == 200  # another network
    world.pass_time(121)
    assert browsers[-1].status().status == 200


def test_asking_again_for_the_same_place_counts_once() -> None:
    world = World(queue(**MANUAL, places_per_network_per_minute=2))
    one, other, third = candidates(world, 3)
    world.fault = only("join", busy)
    for _ in range(10):
        assert one.status().status == 429  # the store is busy; nothing was given
    world.fault = None
    assert one.status().status == 200
    assert other.status().status == 200
    assert third.status().status == 429


def test_the_cap_holds_for_those_who_walk_straight_in() -> None:
    world = World(queue(admit_per_minute=600, burst=100, places_per_network_per_minute=2))
    got = [Browser(world).get() for _ in range(3)]
    assert [each.status for each in got] == [200, 200, 429]
    assert got[2].slot("page") == "default/en/busy"


# --- the moment when queueing begins ------------------------------------------------------------------------------------


def test_an_admission_under_way_is_not_lost_when_the_node_learns_that_the_queue_is_queueing() -> None:
    world = World(queue(admit_per_minute=6, burst=1))
    browser, node = Browser(world), world.node

    def meanwhile(batch: Batch, reply: Reply) -> Reply:
        if batch.name.startswith("join"):  # another request brings the newest snapshot to this node
            snapshot = world.snapshot()
            assert snapshot.queueing == 2
            node.context.snapshots.keep("launch", world.now_ms, snapshot)
        return reply

    world.on_reply = meanwhile
    got = browser.get()
    assert got.forwarded is not None
    assert browser.token()["p"] == 1
    assert world.snapshot().inside == 1


def test_newcomers_do_not_overtake_a_candidate_who_is_under_way() -> None:
    world = World(queue(max_active=1, admit_per_minute=None, burst=None))
    (inside,) = full(world, 1)
    hopeful = Browser(world, client="198.51.8.1")
    hopeful.get()
    inside.leave()
    world.pass_time(1)
    late = Browser(world, client="198.51.9.1")
    assert late.get().slot("state") == "candidate"
    assert hopeful.get().forwarded
    assert late.status().json["position"]


def test_in_that_time_redis_is_told_of_newcomers_and_not_of_each() -> None:
    world = World(queue(max_active=1, admit_per_minute=None, burst=None, candidate_hold_s=10))
    (inside,) = full(world, 1)
    world.pass_time(1)
    world.snapshot()
    inside.leave()
    joins = 0
    for number in range(100):
        world.pass_time(0.1)
        joins += "join" in Browser(world, client=f"198.{number}.8.1").get().calls
    assert 1 <= joins <= 4


def test_a_candidate_of_a_visit_that_is_over_becomes_somebody_new() -> None:
    world = World()
    browser = Browser(world)
    browser.get("/.stanchion/launch/status")
    assert browser.get(answer=PUBLIC).forwarded  # joined by the candidate's cookie, which could not be taken away
    visitor = browser.token("stanchion-launch.c")["v"]
    snapshot = world.snapshot()
    world.run(commands.end("launch", snapshot.epoch, 1, visitor, "completed", world.hex()))
    world.pass_time(1)
    got = browser.get()
    assert got.forwarded is not None, got.decision
    assert browser.token()["v"] != visitor
    assert browser.value("stanchion-launch.c") == ""


# --- cookies ------------------------------------------------------------------------------------------------------------


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


# --- Redis is away ------------------------------------------------------------------------------------------------------


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


# --- clocks -------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("wrong_ms", [3_600_000, -3_600_000, 400_000, -400_000])
def test_a_node_with_a_wrong_clock_decides_by_the_clock_of_redis(wrong_ms: int) -> None:
    world = World(queue(**MANUAL))
    browser = waiting(world)
    world.admit(1)
    world.pass_time(1)
    browser.get()
    browser.skew_ms = wrong_ms
    browser.node = world.new_node()
    for _ in range(2):
        assert browser.get().forwarded
    world.pass_time(100)
    assert browser.get().forwarded
    assert browser.token()["x"] == world.now_ms // 1000 + 300
    world.pass_time(301)
    assert browser.get().forwarded is None
    browser.node = world.new_node()
    browser.jar = {}
    assert browser.join() > 1


def test_the_clock_of_one_queue_is_not_that_of_another() -> None:
    world = World(queue(**MANUAL), queue(id="other", routes=[{"path": "/other/*"}], **MANUAL))
    one = waiting(world)
    world.pass_time(1)
    one.status()
    snapshots = world.node.context.snapshots
    other = Browser(world)
    other.get("/other/")
    assert snapshots.offset_ms("launch") == snapshots.offset_ms("other") == 0
    world.pass_time(600)  # an outage: the clock of the queue with people in it lags behind for a while
    one.status()
    other.get("/other/")
    assert snapshots.offset_ms("launch") < -100_000
    assert snapshots.offset_ms("other") == 0


def test_the_proof_for_the_origin_bears_the_nodes_time_whatever_the_scripts_clock_says() -> None:
    world = World(queue(**MANUAL))
    browser = waiting(world)
    world.pass_time(600)
    world.admit(1)
    got = browser.get()
    world.pass_time(1)
    got = browser.get()
    assert got.forwarded is not None
    _, claims = world.ring.verify(got.forwarded.origin_pass)
    assert 0 <= world.now_ms // 1000 - claims["iat"] < 30
    assert claims["exp"] - claims["iat"] <= 60
