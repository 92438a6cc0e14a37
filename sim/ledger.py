"""What a run counts on the way, for its report."""

from __future__ import annotations

from array import array
from collections import Counter

from edge.core.admission import WaitRange


class Estimates:
    """Waits that sampled visitors were told: whom, when (ms), the range (s)."""

    def __init__(self, every: int) -> None:
        self.every = every
        self.who, self.at_ms = array("i"), array("q")
        self.low_s, self.high_s = array("i"), array("i")
        self.nothing = 0
        self.rises = self.steps = 0
        self._last: dict[int, int] = {}

    def note(self, who: int, at_ms: int, wait: WaitRange | None) -> None:
        """A visitor of the sample is told a range, or that none is known."""
        if wait is None:
            self.nothing += 1
            return
        self.who.append(who)
        self.at_ms.append(at_ms)
        self.low_s.append(wait.low_s)
        self.high_s.append(wait.high_s)
        last = self._last.get(who)
        if last is not None:
            self.steps += 1
            # More than a twentieth and ten seconds longer than what the same person was told before.
            self.rises += wait.high_s > last * 1.05 + 10
        self._last[who] = wait.high_s


class Presence:
    """How many wait with an open page, over time."""

    def __init__(self) -> None:
        self.now = self.most = 0
        self._since_ms, self._area_ms = 0, 0
        self.curve: list[tuple[int, int]] = []

    def change(self, by: int, at_ms: int) -> None:
        """So many more, or fewer, from now on."""
        if at_ms > self._since_ms:
            self._area_ms += self.now * (at_ms - self._since_ms)
            self._since_ms = at_ms
        self.now += by
        self.most = max(self.most, self.now)
        if not self.curve or at_ms - self.curve[-1][0] >= 5_000:
            self.curve.append((at_ms, self.now))

    @property
    def hours(self) -> float:
        """Visitor-hours of waiting so far."""
        return self._area_ms / 3_600_000


class Tally:
    """Counts of a run."""

    def __init__(self, sample_every: int) -> None:
        self.estimates = Estimates(sample_every)
        self.presence = Presence()
        self.counts: Counter[str] = Counter()
