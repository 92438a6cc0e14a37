"""A sandbox by itself, which no snapshot of others reaches: what is likely to be asked next is asked on the way."""

from __future__ import annotations

from typing import Any

import pytest

from edge.core.messages import Batch, Reply
from edge.core.moments import moment_text
from tests.core.support import MANUAL, START_MS, Browser, Got, World, away, end, failing, full, queue, waiting
from tests.core.world import Fault, busy, queue_value, slow

Asked = tuple[Got, list[Batch]]


def ask(browser: Browser, target: str = "/launch/") -> Asked:
    """One request to a sandbox of its own, and its batches."""
    browser.node = browser.world.new_node(is_alone=True)
    return again(browser, target)


def again(browser: Browser, target: str = "/launch/") -> Asked:
    """One request to the sandbox of the last one, and its batches."""
    sent: list[Batch] = []

    def note(batch: Batch, reply: Reply) -> Reply:
        sent.append(batch)
        return reply

    browser.world.on_reply = note
    got = browser.status() if target == "status" else browser.get(target)
    browser.world.on_reply = None
    return got, sent


def told(asked: Asked) -> list[tuple[str, list[str]]]:
    """The batches by name, each with its scripts."""
    return [(batch.name, [call.script.name for call in batch.calls]) for batch in asked[1]]


def line_of_two() -> tuple[World, Browser]:
    """A line that an operator calls, and its second visitor."""
    world = World(queue(**MANUAL))
    waiting(world, client="198.51.1.1")
    return world, waiting(world)


@pytest.mark.parametrize("target", ["/launch/", "status"])
def test_a_sign_of_life_that_is_due_goes_with_the_snapshot(target: str) -> None:
    world, second = line_of_two()
    world.pass_time(25)
    got, batches = asked = ask(second, target)
    assert told(asked) == [("look:launch", ["look"])]
    assert not batches[0].is_shared, "it is about one visitor"
    assert (got.state, second.token()["t"]) == ("waiting", world.now_ms // 1000)
    assert got.slot("ahead") == "1" if target == "/launch/" else got.json["ahead"] == 1


def test_a_poll_before_that_takes_the_snapshot_only() -> None:
    world, second = line_of_two()
    world.pass_time(15)
    touched_s = second.token()["t"]
    asked = ask(second, "status")
    assert told(asked) == [("snapshot:launch", ["snapshot"])]
    assert second.token()["t"] == touched_s


def test_a_turn_is_taken_in_one_step_however_young_the_sign_of_life() -> None:
    world, second = line_of_two()
    assert world.admit(2) == 2
    world.pass_time(5)
    asked = ask(second)
    assert told(asked) == [("look:launch", ["look"])]
    assert asked[0].forwarded is not None
    assert asked[0].forwarded.why.startswith("admitted 2")


def test_a_renewal_that_is_due_goes_with_the_snapshot() -> None:
    world = World()
    (inside,) = full(world, 1)
    before = inside.token()
    asked = ask(inside)
    assert told(asked) == [("snapshot:launch", ["snapshot"])]
    world.pass_time(world.queue().renew_every_s)
    asked = ask(inside)
    assert told(asked) == [("look:launch", ["snapshot", "renew"])]
    assert inside.token()["x"] > before["x"]
    assert asked[0].forwarded is not None
    assert asked[0].forwarded.why.startswith("pass, renewed")


def test_a_pass_that_may_be_in_too_many_networks_is_looked_at_first() -> None:
    world = World(queue(max_networks=2))
    (inside,) = full(world, 1)
    world.pass_time(world.queue().renew_every_s)
    assert told(ask(inside)) == [("snapshot:launch", ["snapshot"]), ("renew", ["renew"])]


def test_a_visit_that_was_ended_is_over_though_its_renewal_was_asked_for() -> None:
    world = World()
    (inside,) = full(world, 1)
    end(world, inside)
    world.pause()
    world.pass_time(world.queue().renew_every_s)
    got, _ = asked = ask(inside)
    assert told(asked)[0] == ("look:launch", ["snapshot", "renew"])
    assert (got.forwarded, got.slot("state")) == (None, "candidate")


def test_a_sandbox_that_knows_a_snapshot_goes_the_way_of_all() -> None:
    world, second = line_of_two()
    ask(second, "status")
    world.pass_time(25)
    assert told(again(second)) == [("snapshot:launch", ["snapshot"]), ("touch", ["touch"])]
    world.pass_time(0.2)
    assert told(again(second)) == []


def test_a_number_from_before_the_opening_is_no_place_to_show_life_from() -> None:
    times = {"prequeue_at": moment_text(START_MS), "opens_at": moment_text(START_MS + 3_600_000)}
    world = World(queue(**times), embedded=True)
    world.pass_time(1)
    browser = Browser(world)
    browser.get()
    world.pass_time(1)
    browser.get()
    assert browser.token()["p"] < 0
    world.pass_time(60)
    got, _ = asked = ask(browser)
    assert told(asked) == [("snapshot:launch", ["snapshot"])]
    assert got.state == "prequeue"


@pytest.mark.parametrize("kind", ["place", "pass"])
def test_a_script_that_was_forgotten_and_a_newer_configuration_and_lost_state_are_met_on_the_way(kind: str) -> None:
    world, browser = line_of_two() if kind == "place" else (World(), Browser(World()))
    if kind == "pass":
        (browser,) = full(world, 1)
    world.pass_time(world.queue().renew_every_s)
    world.redis.script_flush()
    assert [name for name, _ in told(ask(browser))] == ["look:launch", "look:launch in full"]
    world.pass_time(world.queue().renew_every_s)
    world.configure(queue_value(world.queue()) | {"config_version": world.queue().config_version + 1})
    got, _ = asked = ask(browser)
    assert [name for name, _ in told(asked)] == ["look:launch", "offer launch", "offer launch in full"]
    assert (got.forwarded is not None) is (kind == "pass")
    world.pass_time(world.queue().renew_every_s)
    world.redis.flushall()
    got, _ = asked = ask(browser)
    assert [name for name, _ in told(asked)][:2] == ["look:launch", "offer launch"]
    assert got.status in (200, 503)


@pytest.mark.parametrize("fault", [away(9_000), busy, slow, failing("ERR boom")], ids=["away", "busy", "slow", "an error"])
def test_trouble_is_an_answer(fault: Fault) -> None:
    world, second = line_of_two()
    world.pass_time(25)
    world.fault = fault
    got, _ = ask(second)
    assert got.status in (429, 503)
    assert got.forwarded is None


def test_while_redis_is_away_the_last_snapshot_of_this_sandbox_serves() -> None:
    """The first one rode with a visitor's step, so the host has kept none."""
    world, second = line_of_two()
    world.pass_time(25)
    ask(second)
    world.pass_time(10)
    world.fault = away(2_000)
    got, _ = again(second, "status")
    assert (got.state, got.json["ahead"]) == ("waiting", 1)


SETTINGS = {"manual": MANUAL, "rate": {"rate": 60}, "slots": {"rate": None, "burst": None, "max_active": 2}}


@pytest.mark.parametrize("settings", SETTINGS.values(), ids=list(SETTINGS))
def test_the_same_is_said_as_in_two_steps(settings: dict[str, Any]) -> None:
    def said(is_alone: bool) -> tuple[Any, ...]:
        world = World(queue(**settings))
        people = full(world, 0 if settings is MANUAL else 2) + [waiting(world, client=f"198.51.{n}.9") for n in range(30, 34)]
        answers = []
        for _ in range(6):
            world.pass_time(24)
            for browser in people:
                browser.node = world.new_node(is_alone=is_alone)
                got = browser.get()
                answers.append((got.status, got.body, browser.token()))
        return tuple(answers)

    alone, sharing = said(True), said(False)
    for index, (one, other) in enumerate(zip(alone, sharing, strict=True)):
        assert one == other, index
