"""The snapshot of a queue as a value, read from what the scripts answer (`scripts/snapshot_reply.lua`)."""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Sequence
from dataclasses import dataclass, field, fields
from operator import attrgetter
from typing import Any, NamedTuple

# Digits of one place in the list of ended passes, as end.lua writes them: two of the line, eight of the position.
ENDED_WIDTH = 10
_LINE = 10**8
_SHORT, _FULL = 9, 41


@dataclass(slots=True, frozen=True)
class LineView:
    """One line of a scope. `drawn`: so many of its places were drawn at the opening; `weight` 0: it is paused by itself."""

    length: int = 0
    cursor: int = 0
    horizon: int = 0
    drawn: int = 0
    weight: int = 1
    present: int = 0
    gone_every: int = 1
    gone: tuple[int, ...] = ()

    def ahead(self, position: int) -> int:
        """People before `position`, without those known to have left or been passed over; never negative."""
        return _ahead(position, self.cursor, self.gone, self.gone_every)


def _ahead(position: int, cursor: int, gone: tuple[int, ...], gone_every: int) -> int:
    if not gone:
        return max(0, position - 1 - cursor)
    passed = bisect_right(gone, cursor)
    # One of the points may stand for some that the cursor, which can be newer than the points, has passed already.
    known = bisect_left(gone, position) - passed - (1 if passed and gone_every > 1 else 0)
    return max(0, position - 1 - cursor - gone_every * max(0, known))


class Crowd(NamedTuple):
    """Who is likely there in one line: in its head window and beyond it, and how many more come in a second.

    `weight` 0: nobody of them is called.
    """

    weight: int
    near: float
    far: float
    per_s: float = 0.0


@dataclass(slots=True)
class Snapshot:
    """Short form (rides with every answer): up to `max_active`. The rest is in the full form only (`full` is true).

    `length`, `cursor` and `horizon` are of line 0, in the short form of the line that the answer is about.
    """

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
    gone: tuple[int, ...] = ()
    mode: str = "open"
    opens_at_ms: int | None = None
    closes_at_ms: int | None = None
    opened_at_ms: int = 0
    drawn: int = 0
    draw_key: str = ""
    draw_seed: str = ""
    beacon: str = ""
    chain: str = ""
    outflow_per_minute: float | None = None  # admissions to reckon with; None while nothing is known
    present_share: float = 1.0  # of those beyond the head window, from the sample
    sample_every: int = 0  # every so many-th place beyond the window shows life once a minute; 0: none
    weight: int = 1
    line_present: int = 0  # of those in the head window, so many are there
    is_dormant: bool = False
    message: str = ""
    more_lines: tuple[LineView, ...] = ()
    coming_share: float = 1.0  # of those called lately, so many come in
    unseen_s: float = 0.0  # the others had so long to go away without being missed
    arriving_per_s: tuple[float, ...] = ()  # of several lines: places that each gives in a second
    ending_per_minute: float | None = None  # of one slot that is taken: ends of visits in a minute; None while too few were seen
    # By lines.py, when there are several: the people of each, and the line that this view is of.
    views: dict[int, Snapshot] | None = field(default=None, compare=False, repr=False)  # as each line sees it (lines.py)
    crowds: tuple[Crowd, ...] = field(default=(), compare=False)
    seen_line: int = 0

    def line(self, index: int) -> LineView:
        """Line `index` of the scope; one that it does not have looks empty."""
        if index == 0:
            return LineView(self.length, self.cursor, self.horizon, self.drawn, self.weight, self.line_present, self.gone_every,
                            self.gone)  # fmt: skip
        return self.more_lines[index - 1] if index <= len(self.more_lines) else LineView()

    @property
    def lines(self) -> tuple[LineView, ...]:
        """All lines of the scope."""
        return (self.line(0), *self.more_lines)

    def ahead(self, position: int, line: int = 0) -> int:
        """People before `position` in its line, without those known to have left or been passed over; never negative."""
        if line == 0:  # every poll of most queues: no view is made for it
            return _ahead(position, self.cursor, self.gone, self.gone_every)
        return self.line(line).ahead(position)

    def moved(self, clock_ms: int, status: str, length: int, cursor: int, horizon: int) -> Snapshot:
        """The same at another time, with the line further on."""
        # dataclasses.replace costs a fresh sandbox six times as much.
        now = Snapshot(*_values_of(self))
        now.clock_ms, now.status, now.length, now.cursor, now.horizon = clock_ms, status, length, cursor, horizon
        return now

    def is_ended(self, position: int, line: int = 0) -> bool:
        """Whether the pass of this place was ended before its time."""
        return line * _LINE + position in self.ended


_values_of = attrgetter(*[each.name for each in fields(Snapshot)])


def parse(values: Sequence[Any]) -> Snapshot:
    """Reads the array that a script answers. Raises ValueError when it has another shape."""
    if len(values) not in (_SHORT, _FULL):
        raise ValueError(f"a snapshot has {_SHORT} or {_FULL} values, not {len(values)}")
    try:
        return _full(values) if len(values) == _FULL else _short(values)
    except TypeError as error:
        raise ValueError(f"a snapshot has something else where a number stands: {error}") from error


def _short(values: Sequence[Any]) -> Snapshot:
    length, cursor, horizon, version = map(int, values[3:7])
    rate, cap = values[7], values[8]
    return Snapshot(
        str(values[0]), int(values[1]), str(values[2]), length, cursor, horizon, version,
        int(rate) if rate != "" else None, int(cap) if cap != "" else None,
    )  # fmt: skip


# A fresh sandbox reads one for every request: so by position, and what is mostly empty is looked at first.
def _full(values: Sequence[Any]) -> Snapshot:
    left, ended, gone, outflow, lines = values[16], str(values[17]), values[19], values[29], values[36]
    snapshot = _short(values)
    snapshot.full = True
    (snapshot.queueing, snapshot.ready, snapshot.called, snapshot.inside, snapshot.waiting, snapshot.next_token_ms,
     snapshot.admitted_last_minute) = map(int, values[9:16])  # fmt: skip
    snapshot.inventory_left = int(left) if left != "" else None
    if ended:
        snapshot.ended = frozenset([int(ended[i : i + ENDED_WIDTH]) for i in range(0, len(ended), ENDED_WIDTH)])
    snapshot.gone_every, snapshot.gone = int(values[18]), _numbers(gone)
    snapshot.mode = str(values[20])
    snapshot.opens_at_ms, snapshot.closes_at_ms = int(values[21]) or None, int(values[22]) or None
    snapshot.opened_at_ms = int(values[23])
    snapshot.drawn, snapshot.draw_key, snapshot.draw_seed = int(values[24]), str(values[25]), str(values[26])
    snapshot.beacon, snapshot.chain = str(values[27]), str(values[28])
    snapshot.outflow_per_minute = int(outflow) / 1000 if outflow != "" else None
    snapshot.present_share, snapshot.sample_every = int(values[30]) / 1000, int(values[31])
    snapshot.weight, snapshot.line_present, snapshot.is_dormant = int(values[32]), int(values[33]), str(values[34]) == "1"
    snapshot.message, snapshot.more_lines = str(values[35]), _lines(lines)
    snapshot.coming_share, snapshot.unseen_s = int(values[37]) / 1e6, int(values[38]) / 1e3
    if arriving := str(values[39]):
        snapshot.arriving_per_s = tuple([int(each) / 60_000 for each in arriving.split(",")])
    snapshot.ending_per_minute = int(values[40]) / 1e6 if values[40] != "" else None
    return snapshot


def _numbers(points: object) -> tuple[int, ...]:
    if not isinstance(points, (list, tuple)):
        raise ValueError("where a snapshot lists positions stands something else")
    if not points:
        return ()
    return tuple(int(str(point)) for point in points)


def _lines(lines: object) -> tuple[LineView, ...]:
    if not isinstance(lines, (list, tuple)):
        raise ValueError("the last value of a snapshot is a list of lines")
    if not lines:
        return ()
    return tuple(_line(line) for line in lines)


def _line(values: object) -> LineView:
    if not isinstance(values, (list, tuple)) or len(values) != 8:
        raise ValueError("a line of a snapshot has 8 values")
    *numbers, points = values
    length, cursor, horizon, drawn, weight, present, every = (int(str(number)) for number in numbers)
    return LineView(length, cursor, horizon, drawn, weight, present, every, tuple(int(p) for p in str(points).split(",") if p))
