"""One edge node: its clock, the snapshot that it keeps, what it counts for itself."""

from __future__ import annotations

from edge.core.asking import SNAPSHOT_MAX_AGE_MS
from edge.core.lines import completed
from edge.core.node import NodeCounters
from edge.core.snapshot import Snapshot

PAUSE_AFTER_FAILURE_MS = 200  # after a failed snapshot the next one is asked for that much later


class Node:
    """`clock_off_ms`: how far its clock is from the true time. All moments that come in are true time."""

    def __init__(self, clock_off_ms: int) -> None:
        self._clock_off_ms = clock_off_ms
        self.counters = NodeCounters()
        self.snapshot: Snapshot | None = None
        self._taken_ms = self._asked_ms = self._paused_until_ms = 0
        self.away_since_ms: int | None = None

    def _own_ms(self, at_ms: int) -> int:
        return at_ms + self._clock_off_ms

    def is_fresh(self, at_ms: int) -> bool:
        """Whether the snapshot is young enough to decide by, by the node's own clock."""
        return self.snapshot is not None and self._own_ms(at_ms) - self._taken_ms <= SNAPSHOT_MAX_AGE_MS

    def may_ask(self, at_ms: int) -> bool:
        """Whether a failed question may be repeated."""
        return at_ms >= self._paused_until_ms

    def took(self, snapshot: Snapshot, at_ms: int) -> None:
        """A snapshot has come."""
        self.snapshot, self._taken_ms, self.away_since_ms = snapshot, self._own_ms(at_ms), None

    def failed(self, at_ms: int, *, away: bool) -> None:
        """None has come."""
        self._paused_until_ms = at_ms + PAUSE_AFTER_FAILURE_MS
        if away and self.away_since_ms is None:
            self.away_since_ms = at_ms
        elif not away:
            self.away_since_ms = None

    def away_ms(self, at_ms: int) -> int:
        """For how long Redis has been away, as this node sees it."""
        return 0 if self.away_since_ms is None else at_ms - self.away_since_ms

    def redis_ms(self, at_ms: int) -> int:
        """The time of Redis: the snapshot's, and how much the node's own clock has moved since."""
        return 0 if self.snapshot is None else self.snapshot.clock_ms + self._own_ms(at_ms) - self._taken_ms

    def known(self, short: Snapshot, line: int) -> Snapshot:
        """The short snapshot of an answer, which is about `line`, with what this node saw last of the rest."""
        last = self.snapshot
        return short if last is None or last.epoch != short.epoch else completed(last, short, line)
