"""The snapshot of a queue as a value, read from what the scripts answer (`scripts/snapshot_reply.lua`)."""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Sequence
from dataclasses import dataclass, field

ENDED_WIDTH = 8  # digits of one position in the list of ended passes, as end.lua writes them


def _optional(value: object) -> int | None:
    return None if value in ("", None) else int(str(value))


@dataclass(slots=True)
class Snapshot:
    """Short form (rides with every answer): up to `max_active`. The rest is in the full form only (`full` is true)."""

    epoch: str
    clock_ms: int
    status: str
    length: int
    cursor: int
    horizon: int
    config_version: int
    admit_per_minute: int | None
    max_active: int | None
    full: bool = False
    queueing: int = 2  # 0 nobody has to queue; 1 only candidates are still expected back; 2 yes
    ready: int = 0
    called: int = 0
    inside: int = 0
    waiting: int = 0
    next_token_ms: int = 0
    admitted_last_minute: int = 0
    inventory_left: int | None = None
    ended: frozenset[int] = frozenset()
    gone_every: int = 1
    gone: tuple[int, ...] = field(default=())

    def ahead(self, position: int) -> int:
        """People before `position`, without those known to have left or been passed over; never negative."""
        passed = bisect_right(self.gone, self.cursor)
        # One of the points may stand for some that the cursor, which can be newer than the points, has passed already.
        known = bisect_left(self.gone, position) - passed - (1 if passed and self.gone_every > 1 else 0)
        return max(0, position - 1 - self.cursor - self.gone_every * max(0, known))


def parse(values: Sequence[object]) -> Snapshot:
    """Reads the array that a script answers. Raises ValueError when it has another shape."""
    if len(values) not in (9, 20):
        raise ValueError(f"a snapshot has 9 or 20 values, not {len(values)}")
    text = [str(value) for value in values[:19]]
    short = (text[0], int(text[1]), text[2], int(text[3]), int(text[4]), int(text[5]), int(text[6]),
             _optional(values[7]), _optional(values[8]))
    if len(values) == 9:
        return Snapshot(*short)
    ended, points = text[17], values[19]
    if not isinstance(points, (list, tuple)):
        raise ValueError("the last value of a snapshot is a list of positions")
    return Snapshot(
        *short,
        full=True,
        queueing=int(text[9]),
        ready=int(text[10]),
        called=int(text[11]),
        inside=int(text[12]),
        waiting=int(text[13]),
        next_token_ms=int(text[14]),
        admitted_last_minute=int(text[15]),
        inventory_left=_optional(values[16]),
        ended=frozenset(int(ended[i : i + ENDED_WIDTH]) for i in range(0, len(ended), ENDED_WIDTH)),
        gone_every=int(text[18]),
        gone=tuple(int(str(point)) for point in points),
    )
