"""What was seen from outside: latencies by kind of request, and the laws that a visitor can check."""

from __future__ import annotations

from bisect import bisect_right
from collections import Counter, defaultdict, deque
from dataclasses import dataclass, field
from typing import Any

MINUTE_S = 60.0
SLACK_S = 1.0  # between the claim in Redis and its answer here
# A turn is read up to a snapshot's age after it was given (1 s), another visitor's as late; and answers cross.
ORDER_SLACK_S = 5.0
REMEMBERED = 40  # answers of one visitor, for the history that a broken law is shown with
KINDS = ("page", "status", "enter", "inside", "leave")


@dataclass(frozen=True)
class Expected:
    """What the queue's limits are said to be; None: not looked at."""

    admit_per_minute: int | None = None
    burst: int = 0
    max_active: int | None = None


@dataclass
class Watch:
    """Counts of one load. Moments are seconds since it began."""

    expected: Expected = field(default_factory=Expected)
    took_ms: dict[str, list[float]] = field(default_factory=lambda: {kind: [] for kind in KINDS})
    statuses: Counter[str] = field(default_factory=Counter)
    broken: list[str] = field(default_factory=list)
    came_in_s: list[float] = field(default_factory=list)
    outcomes: Counter[str] = field(default_factory=Counter)
    without_token: int = 0
    inside: int = 0
    most_inside: int = 0
    _who_broke: int | None = None
    _answers: dict[int, deque[str]] = field(default_factory=lambda: defaultdict(lambda: deque(maxlen=REMEMBERED)))
    _called: set[int] = field(default_factory=set)
    # (epoch, lane) -> when a higher position than before was read to be called, and which; both rise.
    _reached: dict[tuple[str, str], tuple[list[float], list[int]]] = field(default_factory=lambda: defaultdict(lambda: ([], [])))
    _holders: dict[tuple[str, str, int], int] = field(default_factory=dict)
    _places: dict[tuple[int, str], tuple[str, int]] = field(default_factory=dict)

    def answered(self, kind: str, status: int, took_ms: float, who: int = -1, at_s: float = 0.0, says: str = "") -> None:
        """A request of `who` has its answer; `says`: what it told."""
        self.took_ms[kind].append(took_ms)
        self.statuses[f"{kind} {status}"] += 1
        self._answers[who].append(f"{at_s:9.2f} s  {kind:7} {status} {says}")

    def failed(self, kind: str, error: str) -> None:
        """A request has none."""
        self.statuses[f"{kind} {error}"] += 1

    def placed(self, who: int, epoch: str, lane: str, position: int) -> None:
        """A visitor reads its position."""
        holder = self._holders.setdefault((epoch, lane, position), who)
        if holder != who:
            self._break(f"position {position} was shown to visitor {holder} and to visitor {who}", who)
        before = self._places.setdefault((who, epoch), (lane, position))
        if before != (lane, position):
            self._break(f"visitor {who} stood at {before[1]} and then at {position}", who)

    def called(self, who: int, epoch: str, lane: str, position: int, at_s: float) -> None:
        """A visitor reads that it is its turn."""
        self._called.add(who)
        times, positions = self._reached[epoch, lane]
        if not positions or position > positions[-1]:
            times.append(at_s)
            positions.append(position)

    def waits(self, who: int, epoch: str, lane: str, position: int, asked_s: float) -> None:
        """A visitor who asks as told reads that its turn has not come, in the answer to what it asked at `asked_s`."""
        times, positions = self._reached[epoch, lane]
        before = bisect_right(times, asked_s - ORDER_SLACK_S)
        if before and positions[before - 1] > position and who not in self._called:
            since_s, other = asked_s - times[before - 1], positions[before - 1]
            self._break(f"position {position} waits {since_s:.0f} s after {other} was called", who)

    def _break(self, what: str, who: int) -> None:
        self.broken.append(what)
        if self._who_broke is None:
            self._who_broke = who

    def history(self) -> list[str]:
        """The last answers to the visitor who first saw a law broken; empty when no visitor did."""
        if self._who_broke is None:
            return []
        return [f"visitor {self._who_broke}, the last {REMEMBERED} answers:", *self._answers[self._who_broke]]

    def came_in(self, at_s: float, *, has_token: bool = True) -> None:
        """A visitor is let through; `has_token`: by a queue, as far as it shows."""
        self.without_token += not has_token
        self.came_in_s.append(at_s)
        self.inside += 1
        self.most_inside = max(self.most_inside, self.inside)

    def went_out(self) -> None:
        """A visit is over."""
        self.inside -= 1

    @property
    def is_unguarded(self) -> bool:
        """Whether people came in and no queue had anything to do with it."""
        return 0 < len(self.came_in_s) == self.without_token

    def fullest_minute(self) -> int:
        """Most visitors who came in within 60 s."""
        first, best, times = 0, 0, sorted(self.came_in_s)
        for index, at_s in enumerate(times):
            while times[first] <= at_s - MINUTE_S:
                first += 1
            best = max(best, index - first + 1)
        return best

    def close(self) -> None:
        """Looks at the limits that the caller expects."""
        want = self.expected
        if want.admit_per_minute is not None:
            most = want.admit_per_minute * (MINUTE_S + SLACK_S) / MINUTE_S + want.burst
            if self.fullest_minute() > most:
                self.broken.append(f"{self.fullest_minute()} came in within 60 s, {most:.0f} may")
        if want.max_active is not None and self.most_inside > want.max_active:
            self.broken.append(f"{self.most_inside} were inside at once, {want.max_active} may be")

    def figures(self) -> dict[str, Any]:
        """Everything, as plain data."""
        return {
            "latency_ms": {kind: _percentiles(took) for kind, took in self.took_ms.items() if took},
            "answers": dict(sorted(self.statuses.items())),
            "visitors": dict(sorted(self.outcomes.items())),
            "came_in": len(self.came_in_s),
            "came_in_without_token": self.without_token,
            "fullest_minute": self.fullest_minute(),
            "most_inside": self.most_inside,
            "broken": self.broken,
        }


def _percentiles(took_ms: list[float]) -> dict[str, float | int]:
    ordered = sorted(took_ms)
    at = {f"p{part}": round(ordered[min(len(ordered) - 1, len(ordered) * part // 100)], 1) for part in (50, 90, 99)}
    return {"count": len(ordered), **at, "most": round(ordered[-1], 1)}


def as_text(data: dict[str, Any]) -> str:
    """The figures for a terminal."""
    lines = [f"{'request':8} {'count':>8} {'p50 ms':>8} {'p90 ms':>8} {'p99 ms':>8} {'most ms':>8}"]
    for kind, row in data["latency_ms"].items():
        lines.append(f"{kind:8} {row['count']:>8,} {row['p50']:>8} {row['p90']:>8} {row['p99']:>8} {row['most']:>8}")
    lines.append("answers:  " + ", ".join(f"{name}: {count:,}" for name, count in data["answers"].items()))
    lines.append("visitors: " + ", ".join(f"{name}: {count:,}" for name, count in data["visitors"].items()))
    lines.append(f"came in:  {data['came_in']:,}; {data['fullest_minute']:,} in the fullest 60 s; "
                 f"{data['most_inside']:,} inside at once")  # fmt: skip
    if data["came_in_without_token"]:
        lines.append(f"no token: {data['came_in_without_token']:,} of them, whom no queue let in as far as it shows")
    lines += [f"broken:   {what}" for what in data["broken"]]
    return "\n".join(lines)
