"""Asking Redis: scripts by name and in full, a state that is missing, a newer configuration, and replies of every sort."""

from __future__ import annotations

from typing import Any

import pytest

from edge.core.messages import Batch, Reply
from edge.core.model import Queue
from tests.core.support import MANUAL, Browser, World, failing, full, only, queue, queue_value, recorded


def names(world: World) -> list[str]:
    return [batch.name for batch in world.node.batches]


def decided(world: World, browser: Browser, target: str = "/launch/") -> list[Batch]:
    """The batches of one request."""
    world.node.forget()
    world.decide(browser.request(target))
    return list(world.node.batches)


def test_the_snapshot_is_shared_and_at_most_half_a_second_old() -> None:
    world = World(queue(**MANUAL))
    (batch,) = decided(world, Browser(world))
    assert (batch.name, batch.is_shared, batch.max_age_ms) == ("snapshot:launch", True, 500)
    world.pass_time(0.5)
    assert decided(world, Browser(world)) == []
    world.pass_time(0.001)
    assert len(decided(world, Browser(world))) == 1


def test_the_age_of_a_shared_answer_counts() -> None:
    world = World(queue(**MANUAL))
    world.on_reply = lambda batch, reply: Reply(reply.results, age_ms=400)
    decided(world, Browser(world))
    world.pass_time(0.1)
    assert decided(world, Browser(world)) == []
    world.pass_time(0.001)
    assert len(decided(world, Browser(world))) == 1


def test_a_snapshot_that_is_newer_than_the_request_serves_it() -> None:
    world = World(queue(**MANUAL))
    decided(world, Browser(world))
    world.now_ms -= 300  # a request that began before
    assert decided(world, Browser(world)) == []
    world.now_ms -= 60_000  # but not a clock that was set back
    assert len(decided(world, Browser(world))) == 1


def test_steps_of_a_visitor_are_not_shared() -> None:
    world = World()
    snapshot, join = decided(world, Browser(world))
    assert snapshot.is_shared
    assert not join.is_shared


def test_a_script_that_the_server_has_forgotten_is_sent_in_full() -> None:
    world = World()
    world.redis.script_flush()
    browser = Browser(world)
    batches = decided(world, browser)
    assert [(batch.name, batch.whole, batch.is_shared) for batch in batches] == [
        ("snapshot:launch", False, True),
        ("snapshot:launch in full", True, True),
        ("join a newcomer", False, False),
        ("join a newcomer in full", True, False),
    ]
    assert world.snapshot().inside == 1
    assert [batch.whole for batch in decided(world, Browser(world, client="198.51.1.1"))] == [False]


def test_a_server_that_forgets_at_once_is_trouble_and_no_loop() -> None:
    world = World()
    world.fault = failing("NOSCRIPT No matching script")
    got = Browser(world).get()
    assert got.status == 429
    assert len(world.node.batches) <= 2


def test_a_missing_state_is_begun_in_recovery_by_the_request_that_meets_it() -> None:
    world = World(start=False)
    browser = Browser(world)
    got = browser.get()
    assert got.status == 503
    assert got.calls == ["snapshot", "configure", "snapshot"]
    assert world.snapshot().status == "recovering"
    assert world.snapshot().config_version == 1


def test_a_state_that_vanishes_between_two_looks_is_begun_by_the_step_itself() -> None:
    world = World()
    browser = Browser(world)
    browser.get("/launch/", "HEAD")
    world.redis.flushdb()
    got = browser.get()
    assert got.forwarded is None
    assert got.calls == ["join", "configure", "join"]
    assert world.snapshot().inside == 0


def test_a_state_that_cannot_be_begun_is_trouble() -> None:
    world = World()
    missing = Reply([{"result": [["missing"], []]}])
    world.fault = lambda batch: Reply([*missing.results] * len(batch.calls))
    got = Browser(world).get()
    assert got.status == 429
    assert "not begun" in got.decision.why


def test_a_step_whose_state_cannot_be_begun_is_trouble() -> None:
    world = World()
    missing = {"result": [["missing"], []]}
    world.fault = lambda batch: None if batch.is_shared else Reply([missing] * len(batch.calls))
    got = Browser(world).get()
    assert got.status == 429
    assert "not begun" in got.decision.why


def test_nobody_inside_loses_the_pass_to_a_state_that_cannot_be_begun() -> None:
    world = World()
    (inside,) = full(world, 1)
    world.pass_time(61)
    world.fault = only("renew", lambda batch: Reply([{"result": [["missing"], []]}]))
    inside.get()
    world.fault = lambda batch: Reply([{"result": [["missing"], []]}] * len(batch.calls))
    assert inside.get().forwarded


def newer(each: Queue, **values: Any) -> dict[str, Any]:
    return queue_value(each) | {"config_version": each.config_version + 1} | values


def test_a_newer_configuration_is_offered_once_and_in_force_at_once() -> None:
    world = World(queue(**MANUAL))
    world.configure(newer(world.queue(), manual=False, admit_per_minute=60, burst=10))
    browser = Browser(world)
    got = browser.get()
    assert got.calls == ["snapshot", "configure", "snapshot", "join"]
    assert (world.snapshot().config_version, world.snapshot().admit_per_minute) == (2, 60)
    assert Browser(world, client="198.51.1.1").get().calls == []
    world.pass_time(1)
    assert "configure" not in Browser(world, client="198.51.2.1").get().calls


def test_an_offer_that_fails_costs_nobody_anything() -> None:
    world = World()
    inside = full(world)[0]
    line = Browser(world)
    line.join()
    world.configure(newer(world.queue()))
    world.pass_time(1)
    world.fault = only("offer", failing("ERR broken"))
    assert inside.get().forwarded
    status = line.status().json
    assert status["position"]
    assert status["state"] in ("waiting", "called")


def test_an_older_configuration_is_not_offered() -> None:
    world = World(queue(config_version=5))
    world.configure(newer(world.queue()))
    Browser(world).get()
    world.configure(queue_value(world.queue()) | {"config_version": 5})
    world.pass_time(1)
    assert "configure" not in Browser(world, client="198.51.3.1").get().calls
    assert world.snapshot().config_version == 6


def test_no_configuration_is_offered_on_the_word_of_an_old_snapshot() -> None:
    world = World(queue(**MANUAL))
    kept = recorded(world)
    Browser(world).get("/launch/", "HEAD")
    world.pass_time(1)
    world.configure(newer(world.queue()))
    for failed in ("away", "slow", "busy"):
        world.fault = lambda batch, word=failed: Reply(failed=word, away_ms=100, stale=Reply(kept[0].results, 900))
        Browser(world).get()
        assert names(world) == []
        assert Browser(world).get().calls == []


GARBAGE: list[Any] = [
    None, "OK", 5, [], [[]], [["ok"]], [["ok"], ["x"]], {"a": 1}, [["inside"], []], [["waiting"], []], [["waiting", "x"], []],
    [["inside", "1", "2"], []], [["nonsense"], []], [["called", "1"], []], [[None], []],
]  # fmt: skip


@pytest.mark.parametrize("result", GARBAGE)
def test_an_answer_of_another_shape_is_trouble_and_never_an_error(result: Any) -> None:
    world = World()
    (inside,) = full(world, 1)
    world.pause()
    world.pass_time(1)
    line = Browser(world)
    line.join()
    world.resume()
    world.pass_time(80)
    world.fault = lambda batch: Reply([{"result": result}] * len(batch.calls))
    hopeful = Browser(world)
    for browser in (inside, line, hopeful, Browser(world, client="198.51.3.1")):
        for target in ("/launch/", "/.stanchion/launch/status"):
            assert browser.get(target).status in (200, 429, 503)


REPLIES = [
    Reply([]),
    Reply([{}]),
    Reply([{"error": "ERR x" * 1000}]),
    Reply([{"result": None}, {"result": None}]),
    Reply([{"error": None}]),
    Reply(failed="unknown"),
    Reply(failed="away", away_ms=10**12),
    Reply(failed="busy", stale=Reply([{"error": "x"}])),
    Reply(failed="slow", stale=Reply(failed="slow")),
]


@pytest.mark.parametrize("reply", REPLIES)
@pytest.mark.parametrize("name", ["snapshot", "join", "touch", "renew", "end"])
def test_no_reply_is_an_error(reply: Reply, name: str) -> None:
    world = World()
    (inside,) = full(world, 1)
    line = Browser(world, client="198.51.5.1")
    world.pause()
    world.pass_time(1)
    line.join()
    world.resume()
    world.pass_time(80)
    world.fault = only(name, lambda batch: reply)
    for browser in (inside, line, Browser(world)):
        for target in ("/launch/", "/.stanchion/launch/status"):
            assert browser.get(target).status in (200, 429, 503)
        assert browser.leave().status in (200, 503)


def test_the_scripts_get_fresh_randomness_that_nothing_else_uses() -> None:
    world = World()
    browser = Browser(world)
    request = browser.request("/launch/")
    world.decide(request)
    used = {call.args[1] for batch in world.node.batches for call in batch.calls}
    assert used == {request.random[24:40]}
    visitor = next(iter(world.node.context.granted._passes.values())).visitor
    assert len(visitor) == 16
    assert request.random[24:40] not in visitor
