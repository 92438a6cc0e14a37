"""Another generation: a reset gives new places, a lost state gives the old order back, and what has run out is over."""

from __future__ import annotations

import pytest

from edge.core.messages import Reply
from edge.core.tokens import Pass, Place, write_pass, write_place
from tests.core.support import MANUAL, START_MS, Browser, World, busy, end, full, only, queue, set_cookies, waiting

NAME = "__Host-stanchion-launch"


def test_a_lost_state_gives_the_old_order_back() -> None:
    world = World(queue(**MANUAL))
    people = [waiting(world, client=f"198.51.{n}.1") for n in range(4)]
    old = people[0].token()["e"]
    world.redis.flushdb()
    world.pass_time(1)
    for browser in reversed(people[:3]):  # whoever asks first is not first
        status = browser.status().json
        assert (status["state"], status["position"]) == ("unavailable", None)
        assert 2 <= status["poll_s"] <= 10
        assert browser.token()["e"] == old  # the proof of the old place stays
    page = people[0].get()
    assert (page.status, page.slot("page")) == (503, "default/en/unavailable")
    newcomer = Browser(world)
    assert newcomer.get().slot("state") == "candidate"
    assert newcomer.status().json["state"] == "unavailable"
    world.live(80)
    found = {number: people[number].status().json for number in (2, 0, 1)}
    assert {number: status["position"] for number, status in found.items()} == {0: 1, 1: 2, 2: 3}
    assert {status["state"] for status in found.values()} == {"waiting"}
    assert people[0].token()["e"] == world.snapshot().epoch != old
    assert newcomer.status().json["position"] == 4
    late = people[3].status().json
    assert (late["state"], late["position"]) == ("waiting", 5)


def test_nobody_is_admitted_until_old_passes_are_accounted_for() -> None:
    world = World()
    inside = full(world)[0]
    world.redis.flushdb()
    world.pass_time(1)
    assert inside.get().forwarded
    assert world.snapshot().inside == 1
    newcomer = Browser(world)
    newcomer.get()
    for _ in range(12):
        world.pass_time(20)
        assert inside.get().forwarded
        assert newcomer.get().forwarded is None
    for _ in range(6):
        world.pass_time(20)
        inside.get()
        newcomer.get()
    assert newcomer.get().forwarded


def test_a_reset_that_this_node_has_not_heard_of_is_met_at_the_next_sign_of_life() -> None:
    world = World(queue(**MANUAL))
    browser = waiting(world)
    world.admit(1)
    world.pass_time(1)
    assert browser.status().json["state"] == "called"
    world.reset()
    world.pass_time(0.1)
    got = browser.status()
    assert got.calls == ["touch", "join"]
    assert (got.json["state"], got.json["position"], got.json["epoch"]) == ("waiting", 1, world.snapshot().epoch)


@pytest.mark.parametrize("wants_in", [True, False])
def test_a_place_that_has_run_out_is_over_also_for_a_node_that_learns_the_time_just_now(wants_in: bool) -> None:
    world = World(queue(**MANUAL))
    browser = Browser(world, node=world.new_node())
    epoch = world.snapshot().epoch
    browser.jar[NAME] = (write_place(world.ring, Place("launch", epoch, "v", 1, START_MS, START_MS - 5000)), 2**53)
    got = browser.get() if wants_in else browser.status()
    assert got.state == ("candidate" if wants_in else "ended")
    assert "Max-Age=0" in set_cookies(got)["stanchion-launch"]


def test_a_pass_that_has_run_out_opens_nothing_when_the_store_fails_at_a_node_that_knows_no_time() -> None:
    world = World()
    browser = Browser(world, node=world.new_node())
    token = Pass("launch", world.snapshot().epoch, "v", 1, START_MS - 9000, START_MS - 5000)
    browser.jar[NAME] = (write_pass(world.ring, token), 2**53)
    world.fault = busy
    got = browser.get()
    assert (got.status, got.slot("page")) == (429, "default/en/busy")
    world.fault = None
    assert browser.get().forwarded  # nobody queues: a newcomer


def test_a_visit_found_by_its_place_that_ends_at_its_renewal_is_over() -> None:
    world = World(queue(**MANUAL))
    browser = waiting(world)
    world.admit(1)
    world.pass_time(1)
    assert browser.get(answer=(200, [("cache-control", "public, max-age=9")])).forwarded
    browser.node = world.new_node()
    world.pass_time(100)
    world.fault = only("renew", lambda batch: Reply([{"result": [["ended", "1"], []]}]))
    assert browser.get().slot("state") == "candidate"
    assert browser.value("stanchion-launch") == ""


def test_a_marked_pass_is_good_at_a_node_that_has_seen_the_store_again() -> None:
    world = World(queue(**MANUAL))
    browser = Browser(world)
    token = Pass("launch", "", "v", 0, START_MS + 60_000, START_MS + 60_000, marked=True)
    browser.jar[NAME] = (write_pass(world.ring, token), 2**53)
    Browser(world).get()
    got = browser.get()
    assert got.forwarded is not None
    assert got.calls == []
    assert browser.status().json["state"] == "inside"


def test_an_ended_visit_does_not_come_back_by_a_place_cookie_of_the_same_visit() -> None:
    world = World(queue(**MANUAL))
    browser = waiting(world)
    place = browser.jar[NAME]
    world.admit(1)
    world.pass_time(1)
    browser.get()
    end(world, browser)
    world.pass_time(1)
    browser.jar[NAME] = place
    got = browser.get()
    assert got.slot("state") == "candidate"
    assert browser.value("stanchion-launch") == ""
