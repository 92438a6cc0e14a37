"""What a decision costs in a fresh instance, in a number that does not depend on the machine: about one unit a wasm operation."""

from __future__ import annotations

import os

import pytest

from edge.core.sealed import seal
from tests.double.message import Body
from tests.guests.fastly.conftest import QUEUES, Desk, cookies

# What was measured and a twentieth more, so that a change that costs shows; docs/fastly.md has the parts.
FUEL_AT_MOST = {"inside": 4_180_000, "waiting poll": 4_600_000, "first arrival": 5_510_000}
CASES = tuple(FUEL_AT_MOST)


@pytest.fixture(autouse=True)
def published(desk: Desk) -> None:
    """The configuration as `stanchion config apply` and the admin write it: checked, and not checked again in each sandbox."""
    text = seal({"queues": QUEUES[:2]}).encode()
    desk.platform.kv = lambda key: text if key == "config.json" else None


def visitor(desk: Desk, case: str) -> tuple[str, str]:
    """Path and cookies of the request that a case is about."""
    if case == "inside":
        return "/calm/", cookies(desk.ask("/calm/")[1])
    if case == "first arrival":
        return "/calm/", ""
    hopeful = cookies(desk.ask("/hand/")[1])
    return "/hand/", cookies(desk.ask("/hand/", hopeful)[1])


@pytest.mark.parametrize("case", CASES)
def test_a_decision_stays_within_its_budget(desk: Desk, case: str) -> None:
    path, cookie = visitor(desk, case)
    desk.ask("/.stanchion/calm/status")
    desk.platform.sent.clear()
    sandbox, answer, _ = desk.ask(path, cookie)
    assert answer.status == (503 if case == "waiting poll" else 200)
    if os.environ.get("STANCHION_SHOW_FUEL"):
        print(f"\n{case}: {sandbox.fuel:,} fuel, {len(sandbox.calls)} calls of the host")
    assert sandbox.fuel < FUEL_AT_MOST[case]


@pytest.mark.parametrize(("case", "at_most"), [("inside", 0), ("waiting poll", 0), ("first arrival", 1)])
def test_a_decision_asks_redis_at_most_once_by_itself(desk: Desk, case: str, at_most: int) -> None:
    path, cookie = visitor(desk, case)
    desk.ask(path, cookie)  # the snapshot is there now
    desk.platform.sent.clear()
    sandbox, _, _ = desk.ask(path, cookie)
    assert sandbox.sent.count("redis") <= at_most


def test_an_instance_that_goes_on_costs_less(desk: Desk) -> None:
    path, cookie = visitor(desk, "inside")
    desk.platform.settings["STANCHION_SANDBOX_REUSE_MS"] = "1000"
    sandbox = desk.sandbox()
    first = desk.request(path, cookie)
    sandbox.waiting = [(desk.request(path, cookie), Body(), desk._keep) for _ in range(2)]
    desk.answers.clear()
    desk.double.server.host.run(sandbox, first, Body())
    assert [answer.status for answer, _ in desk.answers] == [200, 200, 200]
    used = [after - before for before, after in zip([0, *sandbox.fuels], sandbox.fuels, strict=False)]
    assert used[2] < used[0] / 2, used
