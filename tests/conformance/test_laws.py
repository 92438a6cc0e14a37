"""The laws as seen from outside: exactly once, limits are caps, order, cheap crowds, the operator's and the origin's word."""

from __future__ import annotations

import time
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace

import httpx
import pytest

from edge.core.keyring import Keyring
from edge.core.tokens import Pass, TokenReader, write_pass
from tests.conformance.limits import limited
from tests.conformance.world import KEYS, World, place
from tests.e2e.stack import enter, status

TOGETHER = 12
CROWD = 100


def calls_of_scripts(world: World) -> int:
    """How many scripts Redis has run, as it counts them itself."""
    lines = [line for line in world.redis_info("commandstats") if line.startswith(("cmdstat_evalsha:", "cmdstat_eval:"))]
    return sum(int(line.split("calls=")[1].split(",")[0]) for line in lines)


def test_everyone_who_comes_at_once_gets_another_place(world: World) -> None:
    visitors = [world.visitor() for _ in range(TOGETHER)]
    for visitor in visitors:
        visitor.get("/wide/")
    with ThreadPoolExecutor(6) as pool:
        places = list(pool.map(lambda visitor: status(visitor, "wide")["position"], visitors))
    assert len(set(places)) == TOGETHER
    again = [status(visitor, "wide")["position"] for visitor in visitors]
    assert again == places, "a position never moves"


def test_no_more_come_in_than_the_limit_allows(world: World) -> None:
    visitors = [world.visitor() for _ in range(TOGETHER)]
    with ThreadPoolExecutor(6) as pool:
        first = list(pool.map(lambda visitor: visitor.get("/cap/").status_code, visitors))
        second = list(pool.map(lambda visitor: visitor.get("/cap/").status_code, visitors))
    assert first.count(200) <= 1
    assert second.count(200) == 1, (first, second)
    assert world.snapshot("cap").inside == 1
    insider = visitors[second.index(200)]
    others = [visitor for visitor in visitors if visitor is not insider]
    assert insider.post("/.stanchion/cap/leave").status_code == 200
    _enter_any(others)
    assert world.snapshot("cap").inside == 1


def _enter_any(visitors: list[httpx.Client]) -> None:
    """The one whose turn it is comes in; nobody else."""
    deadline = time.monotonic() + 20
    while 200 not in [visitor.get("/cap/").status_code for visitor in visitors]:
        assert time.monotonic() < deadline, "the slot was not given on"
        time.sleep(0.2)


@limited("memory")
def test_a_crowd_that_polls_costs_redis_next_to_nothing(world: World) -> None:
    visitors = [place(world, "hand") for _ in range(4)]
    status(visitors[-1], "hand")
    before, start = calls_of_scripts(world), time.monotonic()
    for _ in range(10):
        for visitor in visitors:
            assert status(visitor, "hand")["state"] == "waiting"
    lasted_s = time.monotonic() - start
    # At most two snapshots a second; a manual queue calls nobody, so nobody shows life.
    assert calls_of_scripts(world) - before <= 2 * lasted_s + 3


@limited("memory")
def test_a_hundred_polls_at_once_share_one_snapshot_a_second(world: World) -> None:
    poll = {"Cookie": "; ".join(f"{name}={value}" for name, value in place(world, "hand").cookies.items())}
    with ThreadPoolExecutor(CROWD) as pool, httpx.Client(base_url=world.edge, timeout=60) as client:
        before, start = calls_of_scripts(world), time.monotonic()
        answers = list(pool.map(lambda _: client.get("/.stanchion/hand/status", headers=poll), range(CROWD)))
        lasted_s = time.monotonic() - start
    assert [answer.json()["state"] for answer in answers] == ["waiting"] * CROWD
    assert calls_of_scripts(world) - before <= 2 * lasted_s + 2


def test_a_batch_calls_those_waiting_and_leaves_no_credit(world: World) -> None:
    visitors = [place(world, "again") for _ in range(3)]
    assert world.admit("again", 2) == 2
    world.wait_in_force()
    assert [status(visitor, "again")["state"] for visitor in visitors] == ["called", "called", "waiting"]
    assert world.admit("again", 100) == 1
    for visitor in visitors:
        assert enter(visitor, "/again/").status_code == 200
    late = place(world, "again")
    world.wait_in_force()
    assert status(late, "again")["state"] == "waiting"


def test_pause_and_resume(world: World) -> None:
    inside = world.visitor()
    assert inside.get("/live/").status_code == 200
    visitor = place(world, "live")
    world.operate("live", "pause")
    paused = status(visitor, "live")
    assert paused["state"] == "paused"
    assert paused["position"]
    assert inside.get("/live/").status_code == 200
    world.operate("live", "resume")
    assert status(visitor, "live")["state"] in ("waiting", "called")


def test_the_rate_is_changed_live(world: World) -> None:
    world.visitor().get("/slow/")
    visitor = place(world, "slow")
    assert visitor.get("/slow/").status_code == 503
    world.set_limit("slow", "admit_per_minute", 6000)
    start = time.monotonic()
    enter(visitor, "/slow/")
    assert time.monotonic() - start < 3 + world.host.step_in_force_s


def test_a_reset_voids_everything_at_once_and_the_next_poll_rejoins(world: World) -> None:
    visitor = place(world, "rejoin")
    place(world, "rejoin")
    before = status(visitor, "rejoin")
    world.operate("rejoin", "reset")
    after = status(visitor, "rejoin")
    assert after["epoch"] != before["epoch"]
    assert after["position"] == 1


def test_a_pass_in_use_is_renewed(world: World) -> None:
    visitor = world.visitor()
    enter(visitor, "/renew/")
    ring = Keyring.parse(KEYS)
    cookie = visitor.cookies["stanchion-renew"]
    held = TokenReader(ring).read(cookie, "renew")
    assert isinstance(held, Pass)
    due = write_pass(ring, replace(held, renew_at_ms=held.renew_at_ms - 600_000))
    answer = httpx.get(f"{world.edge}/renew/", cookies={"stanchion-renew": due}, timeout=30)
    assert answer.status_code == 200
    (renewed,) = [c for c in answer.headers.get_list("set-cookie") if "stanchion-renew=" in c]
    fresh = TokenReader(ring).read(renewed.partition(";")[0].partition("=")[2], "renew")
    assert isinstance(fresh, Pass)
    assert fresh.renew_at_ms > time.time() * 1000
    assert world.snapshot("renew").inside == 1, "the same visit goes on"


@pytest.mark.parametrize("command", ["complete; units=1", "revoke"])
def test_the_origin_ends_a_visit(world: World, command: str) -> None:
    buyer = world.visitor()
    enter(buyer, "/done/")
    old = buyer.cookies["stanchion-done"]
    answer = buyer.post("/done/buy", headers={"X-Answer-Stanchion-Command": command})
    assert answer.status_code == 200
    assert "stanchion-command" not in answer.headers
    world.wait_in_force()
    again = httpx.get(f"{world.edge}/done/", cookies={"stanchion-done": old}, timeout=30)
    # The old pass counts for nothing: its bearer is held, or let in anew with another pass.
    assert again.status_code == 503 or "stanchion-done=ey" in " ".join(again.headers.get_list("set-cookie"))
    world.operate("done", "reset")


def test_a_command_out_of_a_cache_is_ignored(world: World) -> None:
    visitor = world.visitor()
    enter(visitor, "/calm/")
    visitor.get("/calm/x", headers={"X-Answer-Stanchion-Command": "revoke", "X-Answer-Age": "7"})
    world.wait_in_force()
    assert status(visitor, "calm")["state"] == "inside"
