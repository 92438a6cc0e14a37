"""What the store does to a command at a moment: the faults of a sale file, in order of time."""

from __future__ import annotations

import random
from typing import NamedTuple

from sim.sale import Fault

DECISION_BUDGET_MS = 800  # what the local edge gives the store for one decision (docs/http.md: slow answers are overload)


class Fate(NamedTuple):
    """`sent`: it reaches Redis, at `at_ms` of true time; `heard`: its answer arrives; `away`: no connection at all."""

    sent: bool
    heard: bool
    away: bool
    at_ms: int


class Trouble:
    """Faults that last; those of a moment (flush, clock, kill) are events of the run."""

    def __init__(self, faults: tuple[Fault, ...], seed: int) -> None:
        self._faults = sorted(faults, key=lambda fault: fault.at_s)
        self._random, self._next = random.Random(seed), 0

    def now(self, at_ms: int) -> Fault | None:
        """The fault that is on, if any. Moments come in order."""
        while self._next < len(self._faults):
            fault = self._faults[self._next]
            if at_ms < fault.at_s * 1000:
                return None
            if at_ms < (fault.at_s + fault.for_s) * 1000:
                return fault
            self._next += 1
        return None

    def fate(self, at_ms: int) -> Fate:
        """What becomes of a command that is sent now."""
        fault = self.now(at_ms)
        if fault is None or fault.kind in ("flush", "clock"):
            return Fate(True, True, False, at_ms)
        if fault.kind in ("away", "kill"):
            return Fate(False, False, True, at_ms)
        if fault.kind == "stall":
            end_ms = (fault.at_s + fault.for_s) * 1000
            return Fate(True, end_ms - at_ms <= DECISION_BUDGET_MS, False, end_ms)
        is_hit = self._random.random() * 100 < fault.percent
        return Fate(not is_hit or fault.kind == "lost_answers", not is_hit, False, at_ms)
