"""Drives a decision inside a sandbox: each batch it yields is run by the guest itself, until it ends."""

from __future__ import annotations

from collections.abc import Callable

from edge.core.messages import Batch, Deciding, Decision, Reply

# A decision needs one or two batches, and one more for a script that the server had forgotten.
MAX_BATCHES = 8


class TooManyBatches(Exception):
    """The decision did not come to an end."""


def drive(deciding: Deciding, run: Callable[[Batch], Reply]) -> Decision:
    """The decision. `run` answers every batch with a reply, trouble included. Raises TooManyBatches."""
    try:
        batch = next(deciding)
        for _ in range(MAX_BATCHES):
            batch = deciding.send(run(batch))
    except StopIteration as done:
        decision: Decision = done.value
        return decision
    raise TooManyBatches(f"a decision asked for more than {MAX_BATCHES} batches of commands")
