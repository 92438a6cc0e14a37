"""The law of the rate as an account of its own: a debt that claims raise and time pays back."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterator
from dataclasses import dataclass

MINUTE_MS = 60_000


@dataclass(frozen=True)
class Limits:
    """What is in force; None: no limit."""

    rate: int | None
    burst: int | None
    max_active: int | None
    inventory: int | None

    @property
    def saved_up(self) -> int:
        """Admissions that idle time may save up: unset, ten seconds' worth, at least one (docs/configuration.md)."""
        return max(1, self.burst or (self.rate or 0) // 6)


class Rate:
    """Claims against the integral of the rate plus the largest burst in force. Times by the script's clock, ms."""

    def __init__(self, limits: Limits, at_ms: int) -> None:
        self.history: list[tuple[int, Limits]] = [(at_ms, limits)]
        self.claims: list[int] = []
        self._at_ms, self._debt, self._burst = at_ms, 0, limits.saved_up

    @property
    def limits(self) -> Limits:
        """What is in force now."""
        return self.history[-1][1]

    def change(self, limits: Limits, at_ms: int) -> None:
        """Other limits from now on."""
        self._pay(at_ms)
        self.history.append((at_ms, limits))
        self._burst = max(self._burst, limits.saved_up)

    def begin_in_debt(self, at_ms: int) -> None:
        """After a loss nothing is saved up: every claim has to be earned first."""
        self._pay(at_ms)
        self._debt = self._burst * MINUTE_MS

    def _pay(self, at_ms: int) -> None:
        rate = self.limits.rate
        passed = max(0, at_ms - self._at_ms)
        self._at_ms = max(self._at_ms, at_ms)
        self._debt = 0 if rate is None else max(0, self._debt - rate * passed)
        if self._debt == 0:
            self._burst = self.limits.saved_up

    def claim(self, at_ms: int) -> bool:
        """Notes a claim; whether the law allows it. A stretch of any length may hold what it earned and one burst."""
        self._pay(at_ms)
        self.claims.append(at_ms)
        if self.limits.rate is None:
            return True
        self._debt += MINUTE_MS
        return self._debt <= self._burst * MINUTE_MS

    # --- windows of sixty seconds, for the report and as a second look

    def allowed(self, from_ms: int, to_ms: int) -> float | None:
        """Claims that a stretch may hold; None: any number."""
        starts = [start for start, _ in self.history]
        index = max(0, bisect_right(starts, from_ms) - 1)
        earned, burst = 0, 0
        while index < len(self.history) and (self.history[index][0] <= to_ms or not burst):
            start, limits = self.history[index]
            if limits.rate is None:
                return None
            end = starts[index + 1] if index + 1 < len(starts) else to_ms
            earned += limits.rate * max(0, min(end, to_ms) - max(start, from_ms))
            burst = max(burst, limits.saved_up)
            index += 1
        return earned / MINUTE_MS + burst

    def fullest_minute(self) -> tuple[int, float | None, int] | None:
        """(claims, allowed, its last ms) of the 60 s with most claims; None without any."""
        return max(self._minutes(), key=lambda minute: minute[0], default=None)

    def exceeded_minute(self) -> tuple[int, float | None, int] | None:
        """The first 60 s that hold more claims than they may, or None."""
        return next((minute for minute in self._minutes() if minute[1] is not None and minute[0] > minute[1]), None)

    def _minutes(self) -> Iterator[tuple[int, float | None, int]]:
        first, claims = 0, sorted(self.claims)
        for index, at_ms in enumerate(claims):
            while claims[first] <= at_ms - MINUTE_MS:
                first += 1
            yield index - first + 1, self.allowed(at_ms - MINUTE_MS, at_ms), at_ms
