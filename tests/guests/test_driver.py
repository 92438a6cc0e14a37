from __future__ import annotations

from collections.abc import Generator

import pytest

from edge.core.messages import Batch, Deciding, Decision, Forward, Reply
from edge.guests.driver import MAX_BATCHES, TooManyBatches, drive


def counting(batches: int) -> Deciding:
    """A decision that says in `why` what it was told."""

    def steps() -> Generator[Batch, Reply, Decision]:
        told = []
        for number in range(batches):
            reply = yield Batch(str(number), [])
            told.append(reply.failed)
        return Forward(" ".join(told))

    return steps()


def test_every_batch_is_answered_in_order() -> None:
    assert drive(counting(0), lambda batch: pytest.fail("nothing was asked")) == Forward("")
    assert drive(counting(3), lambda batch: Reply(failed=f"to-{batch.name}")) == Forward("to-0 to-1 to-2")


def test_a_decision_that_does_not_end_is_ended() -> None:
    assert drive(counting(MAX_BATCHES), lambda batch: Reply(failed="x")).why.count("x") == MAX_BATCHES
    with pytest.raises(TooManyBatches):
        drive(counting(MAX_BATCHES + 1), lambda batch: Reply())
