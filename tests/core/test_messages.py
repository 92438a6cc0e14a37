"""The values of a decision: snapshots that a node remembers, and the time of a scope."""

from __future__ import annotations

from typing import Any

import pytest

from edge.core.messages import Request, Snapshots
from edge.core.snapshot import Snapshot
from tests.core.support import World


def snapshot(clock_ms: int = 1000, epoch: str = "e") -> Snapshot:
    return Snapshot(epoch, clock_ms, "open", 0, 0, 0, 1, None, None)


def test_headers_by_lower_case_name() -> None:
    request = Request("GET", "/", "http", "h", "c", "", 0, "", "", {"accept": "x"})
    assert (request.header("accept"), request.header("cookie")) == ("x", "")


@pytest.mark.parametrize(
    ("now_ms", "age_ms"), [(1000, 0), (1500, 500), (1501, None), (900, 0), (0, 0), (-1, None), (10**12, None)]
)
def test_a_snapshot_is_fresh_for_so_long(now_ms: int, age_ms: int | None) -> None:
    known = Snapshots()
    kept = snapshot()
    known.keep("q", 1000, kept)
    assert known.fresh("q", now_ms, 500) == (None if age_ms is None else (kept, age_ms))
    assert known.fresh("other", now_ms, 500) is None


def test_the_last_snapshot_serves_its_own_epoch() -> None:
    known = Snapshots()
    known.keep("q", 1000, snapshot())
    assert known.last("q", "e") is not None
    assert known.last("q", "f") is None
    assert known.last("other", "e") is None


def test_the_time_of_a_scope_is_that_of_its_scripts() -> None:
    world = World()
    context = world.node.context
    request: Any = Request("GET", "/", "http", "h", "c", "", 5000, "", "")
    assert not context.snapshots.has("launch")
    assert context.now_ms(request, "launch") == 5000
    context.snapshots.keep("launch", 4000, snapshot(clock_ms=1000))
    assert context.snapshots.has("launch")
    assert context.now_ms(request, "launch") == 2000
    assert context.now_ms(request, "other") == 5000


def test_an_answer_that_comes_late_does_not_replace_a_newer_one() -> None:
    known = Snapshots()
    newer, older = snapshot(epoch="new"), snapshot(epoch="old")
    known.keep("q", 1000, newer)
    known.keep("q", 600, older)
    assert known.last("q", "new") is newer
    known.keep("q", 1000, older)
    assert known.last("q", "old") is older
    known.keep("q", -100_000, newer)  # the clock of the node was set back
    assert known.last("q", "new") is newer
