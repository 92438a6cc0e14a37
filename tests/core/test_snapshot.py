"""The snapshot: read from what scripts answer, refused in any other shape, and how many are ahead."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from edge.core.snapshot import LineView, Snapshot, parse
from tests.core.support import Browser, World, full

SHORT = ["e1", "1790000000000", "open", "9", "3", "7", "2", "10", ""]
LINE = ["20", "4", "10", "12", "3", 2, 1, "8,9"]
REST = ["open", "5000", "0", "6000", "7", "key", "seed", "", "chain", "60500", "800", "4", "2", 1, "0", "Doors at nine", [LINE],
        "900000", "130000", "60000,1500", "250000"]  # fmt: skip
FULL = [*SHORT, 2, 1, 2, 3, 4, "100", 5, "6", "00000000010300000002", 1, ["5", "6"], *REST]


def test_the_short_form() -> None:
    short = parse(SHORT)
    assert short == Snapshot("e1", 1_790_000_000_000, "open", 9, 3, 7, 2, 10, None)
    assert not short.full
    assert short.queueing == 2  # what is not known keeps newcomers in line


def test_the_full_form() -> None:
    found = parse(FULL)
    assert found.full
    assert (found.queueing, found.ready, found.called, found.inside, found.waiting) == (2, 1, 2, 3, 4)
    assert (found.next_token_ms, found.admitted_last_minute, found.inventory_left) == (100, 5, 6)
    assert [found.is_ended(*place) for place in ((1, 0), (2, 3), (2, 0), (1, 3))] == [True, True, False, False]
    assert (found.gone_every, found.gone) == (1, (5, 6))
    assert (found.opens_at_ms, found.closes_at_ms, found.opened_at_ms, found.drawn) == (5000, None, 6000, 7)
    assert (found.draw_key, found.draw_seed, found.chain, found.message) == ("key", "seed", "chain", "Doors at nine")
    assert (found.outflow_per_minute, found.present_share, found.sample_every) == (60.5, 0.8, 4)
    assert found.lines == (LineView(9, 3, 7, 7, 2, 1, 1, (5, 6)), LineView(20, 4, 10, 12, 3, 2, 1, (8, 9)))
    assert (found.coming_share, found.unseen_s, found.arriving_per_s) == (0.9, 130.0, (1, 0.025))
    assert found.ending_per_minute == 0.25
    assert parse([*FULL[:-1], ""]).ending_per_minute is None
    assert (found.ahead(11, 1), found.line(9)) == (4, LineView())


@pytest.mark.parametrize(
    "values",
    [
        [], SHORT[:8], [*SHORT, 1], FULL[:19], [*FULL, 1], ["e", "x", *SHORT[2:]], [*FULL[:17], "000000000x", *FULL[18:]],
        [*FULL[:19], "56", *REST], [*FULL[:19], [["5"]], *REST],
        [*FULL[:-5], "x", *FULL[-4:]], [*FULL[:-5], [LINE[:7]], *FULL[-4:]], [*FULL[:-5], ["x"], *FULL[-4:]],
        [*FULL[:-2], "1,x", FULL[-1]], [*FULL[:-1], "x"],
        ["e", None, *SHORT[2:]], [*SHORT[:3], "1.5", *SHORT[4:]],
    ],
)  # fmt: skip
def test_another_shape_is_refused(values: list[Any]) -> None:
    with pytest.raises(ValueError):
        parse(values)


def test_real_scripts_answer_in_this_shape() -> None:
    world = World()
    full(world)
    waiting = Browser(world)
    position = waiting.join()
    found = world.snapshot()
    assert found.full
    assert (found.length, found.inside, found.status) == (position, 2, "open")
    assert found.epoch == waiting.token()["e"]


def snapshot(cursor: int, gone: list[int], every: int = 1) -> Snapshot:
    return parse([*SHORT[:4], str(cursor), *SHORT[5:], *FULL[9:18], every, [str(each) for each in gone], *REST])


@given(st.integers(0, 60), st.sets(st.integers(1, 80)), st.integers(1, 80))
def test_ahead_leaves_out_exactly_those_who_are_known_to_have_left(cursor: int, gone: set[int], position: int) -> None:
    expected = len([p for p in range(cursor + 1, position) if p not in gone])
    assert snapshot(cursor, sorted(gone)).ahead(position) == expected


@given(st.integers(0, 20), st.sets(st.integers(1, 80)), st.integers(1, 80), st.integers(2, 5), st.integers(0, 40))
def test_with_every_nth_of_them_known_it_is_right_to_within_n(
    cursor: int, left: set[int], position: int, every: int, moved: int
) -> None:
    gone = sorted(p for p in left if p > cursor)  # those up to the cursor are no longer counted when the points are taken
    known = gone[every - 1 :: every]
    shown = snapshot(cursor + moved, known, every).ahead(position)
    truth = len([p for p in range(cursor + moved + 1, position) if p not in left])
    assert 0 <= shown <= max(0, position - 1 - cursor - moved)
    assert truth - every < shown < truth + 2 * every
    if not moved:
        assert truth <= shown
