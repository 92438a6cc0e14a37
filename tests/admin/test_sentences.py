"""What the console says: numbers in words, and what a control will do."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from admin.console import sentences, words
from admin.queue_view import QueueView
from admin.store import Limits
from tests.admin.world import config_text, queue_json, queues_of

QUEUE = queues_of(config_text(queue_json("sale", admit_per_minute=60, max_active=500)))[0]


def view(status: str = "open", **values: Any) -> QueueView:
    limits = Limits(
        admit_per_minute=values.pop("rate", 60), burst=values.pop("burst", None), max_active=values.pop("cap", 500),
        inventory=None, manual=values.pop("manual", False), always_queue=False, live=values.pop("live", ()),
    )  # fmt: skip
    counts = {"waiting": 1204, "called": 3, "inside": 212, "admitted_last_minute": 58, **values}
    return QueueView(QUEUE, status, "e", 2000, 700, limits=limits, config_version=1, **counts)


def clock(seconds: float) -> str:
    return f"+{seconds:.0f} s"


@pytest.mark.parametrize(
    ("seconds", "text"),
    [(0, "0 s"), (119, "119 s"), (120, "2 min"), (600, "10 min"), (7190, "2 h"), (7260, "2 h 1 min"), (360_000, "100 h")],
)
def test_duration(seconds: float, text: str) -> None:
    assert words.duration(seconds) == text


@given(st.floats(0, 1e9))
def test_a_duration_is_within_its_unit(seconds: float) -> None:
    text = words.duration(seconds)
    parts = text.replace(",", "").split(" ")
    unit_s = {"s": 1, "min": 60, "h": 3600}
    told = sum(int(number) * unit_s[unit] for number, unit in zip(parts[::2], parts[1::2], strict=True))
    assert abs(told - seconds) <= 31


@pytest.mark.parametrize(
    ("seen", "text", "note"),
    [
        (view(), "20 to 21 min", "at 60 a minute; now 58"),
        (view(admitted_last_minute=60), "20 min", "at 60 a minute"),
        (view(admitted_last_minute=0), "20 min or more", "at 60 a minute; nobody came in during the last minute"),
        (view(admitted_last_minute=0, waiting=6), "1 min or more", "at 60 a minute; nobody came in during the last minute"),
        (view(rate=None, admitted_last_minute=100), "12 min", "at 100 a minute"),
        (view(rate=None, admitted_last_minute=0), words.UNKNOWN, "nobody came in during the last minute"),
        (view(rate=0, admitted_last_minute=0), words.UNKNOWN, "nobody came in during the last minute"),
        (view(waiting=0), "none", "nobody waits"),
        (view(waiting=5), "under 1 min", "at 58 a minute"),
        (view(waiting=80, admitted_last_minute=10), "1 to 8 min", "at 60 a minute; now 10"),
        (view(manual=True), words.UNKNOWN, "people are called by hand"),
        (view("paused"), words.UNKNOWN, "nobody is called while it is paused"),
        (view("some_later_state"), words.UNKNOWN, "nobody is called while it is some later state"),
    ],
)
def test_wait(seen: QueueView, text: str, note: str) -> None:
    assert words.wait(seen) == (text, note)


@pytest.mark.parametrize(
    ("seen", "typed", "says"),
    [
        (view(), "50", "Calls the next 50 of 1,204 waiting; each has 2 min to come in."),
        (view(), "1,000", "Only 285 slots are free."),
        (view(), "100", "They come in at 60 a minute."),
        (view(waiting=1), "50", "Calls all 1 waiting"),
        (view(waiting=0), "50", "Nobody waits"),
        (view(inside=497), "50", "all 500 slots are taken"),
        (view(inventory_left=0), "50", "no units are left"),
        (view(inventory_left=9), "50", "Calls the next 9 of 1,204"),
        (view("paused"), "50", "paused: nobody can be called"),
        (view(), "0", "from 1 to 100,000"),
        (view(), "", "from 1 to 100,000"),
        (view(), "٣", "from 1 to 100,000"),
    ],
)
def test_admit(seen: QueueView, typed: str, says: str) -> None:
    assert says in sentences.admit(seen, typed)


@pytest.mark.parametrize(
    ("seen", "typed", "says"),
    [
        (view(), "90", "the line of 1,204 empties at +803 s, not +1204 s."),
        (view(), "60", "60 a minute is in force now, from the configuration."),
        (view(live=("admit_per_minute",)), "60", "set by an operator"),
        (view(), "0", "nobody comes in any more"),
        (view(), "", "to no limit on the rate, at once"),
        (view(cap=None), "", "would have no limit at all"),
        (view(burst=5), "", "The burst would mean nothing"),
        (view(rate=None), "60", "From no limit to 60 a minute, at once. At this rate the line of 1,204 empties at +1204 s."),
        (view(rate=0), "60", "From 0 a minute to 60 a minute, at once. At this rate the line of 1,204 empties at +1204 s."),
        (view(), "fast", "A whole number from 0 to 1,000,000"),
        (view(), "-1", "A whole number from 0 to 1,000,000"),
        (view(), "1000001", "A whole number from 0 to 1,000,000"),
    ],
)
def test_rate(seen: QueueView, typed: str, says: str) -> None:
    assert says in sentences.rate(seen, typed, clock)


def test_changed_names_what_changed() -> None:
    before, after = view(), view(rate=90, live=("admit_per_minute",))
    assert sentences.changed(before, after) == "Rate: 60 → 90."
    assert (
        sentences.changed(after, replace(after, limits=replace(after.limits, live=()))) == "Rate: 90, now from the configuration."
    )
    assert "Nothing changed" in sentences.changed(before, before)


def test_resume_says_what_ending_a_recovery_means() -> None:
    assert "more than the cap may be inside" in sentences.resume(view("recovering"))
    assert "at 60 a minute" in sentences.resume(view("paused"))
    assert "manual" in sentences.resume(view("paused", manual=True))


@given(st.text(max_size=14))
def test_any_typed_text_gets_a_sentence(typed: str) -> None:
    for seen in (view(), view("paused"), view(waiting=0, rate=None, cap=None)):
        assert sentences.admit(seen, typed).endswith((".", "it is open."))
        assert sentences.rate(seen, typed, clock).endswith(".")
        assert sentences.cap(seen, typed).endswith(".")
        assert sentences.inventory(seen, typed).endswith(".")


def test_cap_and_inventory_say_whom_they_hold() -> None:
    seen = replace(view(cap=100), inside=60, called=10, counts={"sold": 30})
    assert sentences.cap(seen, "100") == "100 is in force now, from the configuration."
    assert "nobody is called before 20 have gone" in sentences.cap(seen, "50")
    assert "130 more can be called" in sentences.cap(seen, "200")
    assert "no cap" in sentences.cap(seen, "")
    assert "sold out at once" in sentences.inventory(seen, "30")
    assert "30 are sold; 100 more people can be called." in sentences.inventory(seen, "200")
