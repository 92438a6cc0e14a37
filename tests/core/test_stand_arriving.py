"""Newcomers: the cap of a network, and the moment at which queueing begins and ends."""

from __future__ import annotations

from edge.core import commands
from edge.core.messages import Batch, Reply
from tests.core.support import (
    MANUAL,
    Browser,
    World,
    busy,
    full,
    only,
    queue,
)

PUBLIC = (200, [("cache-control", "public, max-age=60")])


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
