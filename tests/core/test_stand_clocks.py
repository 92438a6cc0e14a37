"""Clocks of nodes and of scripts: none of them costs anybody a place."""

from __future__ import annotations

import pytest

from tests.core.support import (
    MANUAL,
    Browser,
    World,
    queue,
    waiting,
)


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
