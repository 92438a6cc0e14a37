"""What a queue promises follows its settings."""

from __future__ import annotations

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from edge.core.promises import duration, promises
from tests.core.support import World

QUEUE = World(start=False).queue()
_SECONDS = {"h": 3600, "min": 60, "s": 1}


@pytest.mark.parametrize(
    ("seconds", "said"),
    [(10, ("10", "s")), (60, ("1", "min")), (90, ("90", "s")), (120, ("2", "min")), (301, ("5", "min")), (3600, ("1", "h")),
     (5400, ("90", "min")), (86_400, ("24", "h"))],
)  # fmt: skip
def test_one_number_and_one_unit(seconds: int, said: tuple[str, str]) -> None:
    assert duration(seconds) == said


@given(st.integers(1, 200_000))
def test_never_more_than_is_kept_and_never_much_less(seconds: int) -> None:
    number, unit = duration(seconds)
    said_s = int(number) * _SECONDS[unit]
    assert seconds - 60 < said_s <= seconds


def test_the_time_to_come_in_is_the_one_of_the_queue() -> None:
    said = promises(replace(QUEUE, claim_within_s=600, late_claim="back", late_claim_within_s=45, prequeue_order="arrival"))
    assert (said["claim"], said["claim_unit"]) == ("10", "min")
    assert (said["late_claim"], said["late"], said["late_unit"], said["order"]) == ("back", "45", "s", "arrival")
