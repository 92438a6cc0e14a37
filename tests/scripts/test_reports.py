"""What people report about such systems, seen from the scripts: that kind of fault must be impossible (docs/proof.md has all)."""

from __future__ import annotations

from tests.scripts.backends import Store
from tests.scripts.line import Line


def test_redis_js_1455_a_retried_step_counts_once(store: Store) -> None:
    line = Line(store, admit_per_minute=60, burst=2, max_active=2)
    for _ in range(3):
        line.join("one", wants_in=True)
    assert (line.number("length"), len(line.members("active")), line.number("units")) == (1, 1, 60_000)
    held, second = line.enter("one"), line.place("two")
    for _ in range(3):
        assert line.touch(second, wants_in=True).verdict == "inside"
    assert line.number("units") == 0, "two came in, whatever was repeated"
    third = line.place("three")
    assert [line.end(held, "completed").verdict for _ in range(3)] == ["freed", "already", "already"]
    assert (line.number("completed"), line.number("sold"), len(line.members("active"))) == (1, 1, 1)
    line.set_limits(max_active=1)
    line.place("four")
    line.set_limits(max_active=3)
    assert {tuple(line.admit(1, "batch").details) for _ in range(3)} == {line.admit(1, "batch").details}, "one batch, one answer"
    for _ in range(3):
        line.set_limits("limits", max_active=5)
        line.control("pause", "pause")
    assert line.touch(third).verdict in ("waiting", "called")
    assert line.number("max_active") == 5
    line.control("resume", "resume")
    line.control("pause", "pause")
    assert line.seen().status == "open", "a repeat that comes late is no second pause"


def test_smoketurner_97_a_grace_in_seconds_is_no_count_of_positions(store: Store) -> None:
    line = Line(store, admit_per_minute=0, presence_grace_s=40)
    silent = line.place("silent")
    line.places(120)
    line.live(39, every_s=10)
    assert str(silent.position) in line.members("ready"), "120 people later, before 40 s"
    line.live(2)
    assert str(silent.position) not in line.members("ready")
