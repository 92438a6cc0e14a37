"""What a waiting visitor is told: the wait as a range, and when to ask again."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from edge.core import admission
from edge.core.admission import WaitRange
from edge.core.config import check_config
from edge.core.model import Queue
from edge.core.snapshot import Crowd, Snapshot
from tests.core.support import queue


def a_queue(**values: Any) -> Queue:
    return check_config({"queues": [queue(**values)]}).queues[0]


def snapshot(**values: Any) -> Snapshot:
    base: dict[str, Any] = {"epoch": "e", "clock_ms": 0, "status": "open", "length": 1000, "cursor": 10, "horizon": 100,
                            "config_version": 1, "admit_per_minute": 10, "max_active": None}  # fmt: skip
    return Snapshot(**base | values)


@pytest.mark.parametrize(
    ("values", "per_minute"),
    [
        ({}, 10),
        ({"admit_per_minute": 0}, None),
        ({"max_active": 5}, None),  # the short form says nothing of what was seen
        ({"max_active": 5, "outflow_per_minute": 4.5}, 4.5),
        ({"outflow_per_minute": 7.0}, 7),
        ({"outflow_per_minute": 0.0}, None),
        ({"admit_per_minute": None}, None),
    ],
)
def test_the_outflow_is_what_was_seen_or_the_rate(values: dict[str, Any], per_minute: float | None) -> None:
    assert admission.outflow_per_minute(snapshot(**values)) == per_minute


def test_of_the_people_ahead_those_count_who_are_likely_still_there() -> None:
    seen = snapshot(full=True, line_present=30, present_share=0.5)  # 90 positions in the window, a third of them present
    assert admission.ahead_present(seen, 90) == (30, 0)
    assert admission.ahead_present(seen, 45) == (15, 0)
    assert admission.ahead_present(seen, 190) == (30, 50)
    assert admission.ahead_present(snapshot(), 45) == (45, 0), "nothing is known in the short form"


@pytest.mark.parametrize(
    ("position", "touched_s", "asks"),
    [(10, 0, True), (11, 0, False), (11, 20, True), (100, 19, False), (104, 55, True), (104, 54, False), (105, 999, False)],
)
def test_who_is_called_or_near_or_in_the_sample_reaches_redis(position: int, touched_s: int, asks: bool) -> None:
    seen = snapshot(full=True, sample_every=8)
    assert admission.needs_touch(seen, position, 0, touched_s * 1000) == asks


def test_the_wait_is_a_range_around_what_is_expected() -> None:
    assert admission.wait_range(a_queue(), snapshot(), 9) == WaitRange(45, 80)
    assert admission.wait_range(a_queue(poll_s=10), snapshot(), 9) == WaitRange(45, 85)


@pytest.mark.parametrize("values", [{"status": "paused"}, {"status": "recovering"}, {"admit_per_minute": 0}])
def test_no_wait_is_told_rather_than_a_guess(values: dict[str, Any]) -> None:
    assert admission.wait_range(a_queue(), snapshot(**values), 9) is None


def test_a_line_from_which_people_go_moves_the_faster_the_longer_it_is() -> None:
    assert admission.drained_s(600, 1, 0) == 600
    # A thousandth goes every second: ln(1 + 0.6) / 0.001.
    assert admission.drained_s(600, 1, 0.001) == pytest.approx(470, abs=0.1)
    assert admission.drained_s(60, 1, 0.001) == pytest.approx(58.3, abs=0.1)


def test_who_did_not_come_when_called_says_how_many_go_away() -> None:
    assert admission.going_per_s(snapshot(coming_share=0.9, unseen_s=105.36)) == pytest.approx(0.001, rel=1e-3)
    for coming, unseen_s in ((1, 0), (0.9, 0), (1, 100), (0.9, 14), (0, 99)):
        assert admission.going_per_s(snapshot(coming_share=coming, unseen_s=unseen_s)) == 0


def test_nobody_waits_for_those_who_will_be_gone_by_their_turn() -> None:
    def wait_s(ahead: int, **values: Any) -> float:
        base = {"full": True, "horizon": 610, "length": 9000, "line_present": 600, "admit_per_minute": 60}
        return admission.wait_until_s(snapshot(**base | values), ahead, 60)

    assert wait_s(599) == 600
    # The window has slid for long: of those in it nine of ten come in, as of those called.
    assert wait_s(600, coming_share=0.9, unseen_s=600) == pytest.approx(541)
    # It has just begun: they will have been there for longer than those called now.
    assert 400 < wait_s(600, coming_share=0.9, unseen_s=100) < 500
    # Beyond it they go until they are asked, and then as the others.
    assert wait_s(1199, coming_share=0.9, unseen_s=600) < 541 + 540 * 0.95


def shop(**values: Any) -> Snapshot:
    """Full of people, some of whom have come in lately; how long visits last is not known unless told."""
    base = {"full": True, "max_active": 60, "inside": 60, "admit_per_minute": 120, "admitted_last_minute": 60,
            "outflow_per_minute": 120.0}  # fmt: skip
    return snapshot(**base | values)


@given(st.integers(0, 60), st.integers(0, 60), st.integers(0, 200), st.lists(st.integers(0, 300), max_size=3))
def test_for_whom_visits_have_to_end_is_told_nothing_until_some_have(
    inside: int, called: int, ahead: int, others: list[int]
) -> None:
    """Of lines of the same weight as many come in between, as far as there are any."""
    crowds = ((1, 90, 900), *((1, people, 0) for people in others))
    seen = {"inside": inside, "called": called, "line_present": 90, "crowds": tuple(Crowd(*each) for each in crowds)}
    visits_have_to_end = ahead + sum(min(people, ahead + 1) for people in others) + 1 > 60 - inside - called
    told = admission.wait_range(a_queue(), shop(**seen), ahead)
    assert (told is None) == visits_have_to_end
    assert admission.wait_range(a_queue(), shop(**seen, ending_per_minute=0.5), ahead) is not None


def test_short_waits_are_not_told_before_people_come_in() -> None:
    """By then it is being asked who is there, which takes up to `settle_s`; in the range of a long wait that does not count."""
    opened = {"inside": 0, "max_active": 5000, "admitted_last_minute": 0, "line_present": 90}
    settles = a_queue(settle_s=30)
    assert admission.wait_range(settles, shop(**opened), 9) is None
    assert admission.wait_range(settles, shop(**opened), 260) is not None
    assert admission.wait_range(settles, shop(**opened | {"admitted_last_minute": 5, "inside": 5}), 9) is not None
    assert admission.wait_range(settles, shop(**opened | {"max_active": None}), 9) is not None, "the rate is what it is"


def test_of_a_few_visits_that_have_to_end_the_range_is_wider() -> None:
    def width(ahead: int, **values: Any) -> float:
        told = admission.wait_range(a_queue(), shop(ending_per_minute=2.0, line_present=90, **values), ahead)
        assert told is not None
        return (told.high_s - told.low_s - a_queue().poll_s) / (told.high_s + told.low_s - a_queue().poll_s)

    assert 0.85 > width(3) > width(20) > width(400) > 0.23
    assert width(39, inside=20) == pytest.approx(0.24, abs=0.05), "the slots are free: the rate holds people"


def test_a_lowered_limit_lets_nobody_in_until_as_many_have_gone() -> None:
    """Half of those inside go in ln 2 of a visit's length; then 30 slots, not 60, are taken anew."""
    seen = shop(max_active=30, ending_per_minute=1.0, outflow_per_minute=60.0)
    assert admission.emptied(seen, 60) == (pytest.approx(41.6, abs=0.1), 30)
    assert admission.emptied(shop(max_active=60, ending_per_minute=1.0), 60) == (0, 60)
    lowered, before = admission.wait_range(a_queue(), seen, 89), admission.wait_range(a_queue(), shop(ending_per_minute=1.0), 89)
    assert lowered is not None
    assert before is not None
    assert lowered.low_s > 3 * before.low_s


@given(st.integers(0, 100_000), st.integers(1, 1000), st.floats(0, 600), st.floats(0, 1))
def test_more_ahead_never_means_a_shorter_wait_and_those_who_go_never_a_longer_one(
    ahead: int, more: int, unseen_s: float, coming: float
) -> None:
    seen, calm = snapshot(unseen_s=unseen_s, coming_share=coming), snapshot()
    assert 0 < admission.wait_until_s(seen, ahead, 10) <= admission.wait_until_s(seen, ahead + more, 10) * (1 + 1e-6)
    assert admission.wait_until_s(seen, ahead, 10) <= admission.wait_until_s(calm, ahead, 10) * (1 + 1e-6)


def beside(*crowds: tuple[float, ...], line: int = 0, **values: Any) -> Snapshot:
    """Seen from one of several lines. Of each: weight, people in the window and beyond it, and how many come in a second."""
    each = tuple(Crowd(int(weight), *people) for weight, *people in crowds)
    return snapshot(weight=each[line].weight, crowds=each, seen_line=line, **values)


def test_others_take_turns_by_their_weight_for_as_long_as_they_have_anybody() -> None:
    def wait_s(*crowds: tuple[int, float, float]) -> float:
        return admission.wait_until_s(beside(*crowds), 59, 60)

    assert wait_s((3, 90, 900)) == 60
    assert wait_s((3, 90, 900), (1, 90, 0)) == 80, "one of theirs for each three of ours"
    assert wait_s((3, 90, 900), (1, 7, 0)) == 67, "when they have run out the turns are ours"
    assert wait_s((3, 90, 900), (1, 7, 5)) == 72
    assert wait_s((3, 90, 900), (1, 7, 500)) == 80
    assert wait_s((3, 90, 900), (1, 7, 5), (6, 60, 0)) == 132
    assert wait_s((3, 90, 900), (0, 90, 900)) == 60, "a line without weight stands still"


def test_who_comes_into_a_shorter_line_meanwhile_is_called_before_too_within_its_share() -> None:
    def wait_s(*crowds: tuple[float, ...]) -> float:
        return admission.wait_until_s(beside(*crowds), 59, 60)

    # A fifth of the calls goes to those who come: 60 of ours and 15 of theirs.
    assert wait_s((3, 90, 900, 9), (1, 0, 0, 0.2)) == 75
    assert wait_s((3, 90, 900), (1, 0, 0, 5)) == 80, "never more than their weight gives them"
    assert wait_s((3, 90, 900), (0, 0, 0, 5)) == 60


def test_the_units_left_go_to_all_lines() -> None:
    assert admission.wait_range(a_queue(), beside((1, 90, 0), (1, 90, 0), inventory_left=20), 9) is not None
    assert admission.wait_range(a_queue(), beside((1, 90, 0), (1, 90, 0), inventory_left=19), 9) is None


_CROWD = st.tuples(st.integers(1, 1000), st.integers(0, 5000), st.integers(0, 5000))


@given(st.lists(_CROWD, min_size=2, max_size=16), st.data())
def test_a_wait_among_lines_counts_them_in_bounds(crowds: list[tuple[int, float, float]], data: st.DataObject) -> None:
    """Never before one's own people, never after everybody; and later in a line is never sooner."""
    line = data.draw(st.integers(0, len(crowds) - 1))
    ahead = data.draw(st.integers(0, int(sum(crowds[line][1:]))))
    seen = beside(*crowds, line=line)
    wait_s = admission.wait_until_s(seen, ahead, 60)
    everybody = ahead + 1 + sum(near + far for index, (_, near, far) in enumerate(crowds) if index != line)
    assert (ahead + 1) * (1 - 1e-9) <= wait_s <= everybody * (1 + 1e-9)
    assert admission.wait_until_s(seen, ahead + 1, 60) >= wait_s * (1 - 1e-9)


def test_who_waits_for_units_to_come_back_is_told_no_time() -> None:
    seen = snapshot(full=True, line_present=90, inventory_left=10)
    assert admission.wait_range(a_queue(), seen, 9) is not None
    assert admission.wait_range(a_queue(), seen, 10) is None


def test_nobody_can_say_how_long_an_operator_takes_nor_what_is_beyond_a_week() -> None:
    assert admission.wait_range(a_queue(admit_per_minute=None, burst=None, manual=True), snapshot(), 9) is None
    assert admission.wait_range(a_queue(), snapshot(), 200_000) is None


@given(st.integers(0, 100_000), st.integers(0, 1000))
def test_the_range_grows_with_the_people_ahead_and_holds_the_expectation(ahead: int, more: int) -> None:
    near, far = (admission.wait_range(a_queue(), snapshot(), count) for count in (ahead, ahead + more))
    if near is not None and far is not None:
        assert near.low_s <= (ahead + 1) * 6 <= near.high_s
        assert near.low_s <= far.low_s
        assert near.high_s <= far.high_s


_TIMES = st.fixed_dictionaries({
    "poll_s": st.integers(1, 60), "settle_s": st.integers(1, 3600), "claim_within_s": st.integers(10, 86_400),
    "presence_grace_s": st.integers(2, 86_400),
})  # fmt: skip


@given(_TIMES, st.integers(1, 1000), st.integers(0, 1000))
def test_a_page_never_sleeps_past_its_settling_its_grace_or_its_turn(times: dict[str, int], position: int, rate: int) -> None:
    try:
        each = a_queue(**times)
    except Exception:
        return  # refused by the configuration
    seen = snapshot(admit_per_minute=rate)
    told_s = admission.poll_s(each, seen, position, admission.wait_range(each, seen, seen.ahead(position)))
    assert 1 <= told_s <= 60
    assert 2 * told_s <= max(each.settle_s, 2 * each.poll_s)
    assert 2 * told_s <= each.presence_grace_s
    assert 2 * told_s <= each.claim_within_s


def test_the_interval_grows_with_the_distance() -> None:
    each, seen = a_queue(), snapshot(length=10_000)

    def told_s(position: int) -> int:
        return admission.poll_s(each, seen, position, admission.wait_range(each, seen, seen.ahead(position)))

    assert told_s(15) == 5
    assert told_s(60) == 11  # in the window, but minutes away
    assert told_s(5000) == 30
    assert [told_s(position) for position in range(11, 400)] == sorted(told_s(position) for position in range(11, 400))


@pytest.mark.parametrize(
    ("position", "touched_ago_ms", "needs"),
    [
        (10, 0, True),  # called or passed over: only Redis knows which
        (5, 0, True),
        (11, 0, False),
        (11, 19_999, False),
        (11, 20_000, True),
        (100, 20_000, True),
        (101, 10**9, False),  # behind the window nobody is asked
    ],
)
def test_who_has_to_show_life(position: int, touched_ago_ms: int, needs: bool) -> None:
    now_ms = 1_790_000_000_000
    assert admission.needs_touch(snapshot(), position, now_ms - touched_ago_ms, now_ms) is needs


def test_a_short_grace_is_met_by_showing_life_more_often() -> None:
    assert admission.beat_ms(150) == admission.BEAT_MS
    assert [admission.beat_ms(grace_s) for grace_s in (60, 12, 4, 2)] == [20_000, 4_000, 1_333, 666]
