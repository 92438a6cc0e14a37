"""What queues of a group, and lanes, have of the totals: nobody waits for a free slot, and unused quotas go first."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable

from edge.core.model import Queue
from sim.history import Violated
from sim.raw import Held
from sim.seats import Seats

LENDS_WITHIN_MS = 1_000
SWEEP_EVERY_MS = 250
# Of one or two who are there at both looks the presence may have ended and begun between.
STEADY = 3


def line_of(member: str) -> int | None:
    """The line of a place, as Redis names it; None for a pass that was taken over, which has none."""
    return None if member.startswith("v") else int(member.rpartition(":")[0] or 0)


def by_line(members: Iterable[str]) -> Counter[int]:
    """How many of these places each line has."""
    return Counter(line for line in map(line_of, members) if line is not None)


class Quotas:
    """The lines of one scope, held from one look at Redis to the next."""

    def __init__(self, queue: Queue, seats: Seats) -> None:
        self._is_group, self._is_manual, self._seats = bool(queue.group), queue.manual, seats
        self.looks = 0

    def check(self, held: Held, before: Held | None, *, is_calm: bool) -> None:
        """`is_calm`: the state was never in trouble, and whoever polls as told is seen. Raises Violated."""
        if not is_calm:
            return
        used = by_line([*held.called, *held.inside])
        for line, counted in enumerate(held.held):
            if counted != used[line]:
                raise Violated("quotas", f"line {line} has {used[line]} slots, and counts as having {counted}")
        if before is not None and not self._is_manual and self._is_comparable(held, before):
            self._go_on(held, before, used)

    @staticmethod
    def _is_comparable(held: Held, before: Held) -> bool:
        """Nothing was changed between the two looks, and whoever may be called was: a sweep came a second after the first."""
        is_same = (held.max_active, held.inventory, held.weights) == (before.max_active, before.inventory, before.weights)
        swept_ms = held.pump_at_ms - SWEEP_EVERY_MS
        return is_same and held.status == before.status == "open" and swept_ms >= before.clock_ms + LENDS_WITHIN_MS

    def _go_on(self, held: Held, before: Held, used: Counter[int]) -> None:
        self.looks += 1
        new, used_before = by_line(held.called.keys() - before.called.keys()), by_line([*before.called, *before.inside])
        new.update(by_line(held.inside.keys() - before.inside.keys() - before.called.keys()))
        is_free = min(_may_be_called(held), _may_be_called(before)) > 0
        for line, weight in enumerate(held.weights):
            steady = [member for member in _askable(before, line) if member in held.ready]
            if weight == 0 or len(steady) < STEADY:
                continue
            if is_free and not new[line]:
                what = f"{len(steady)} wait in line {line} for a second and more, nobody is called, and slots are free"
                raise Violated("quotas", what, self._seats.holder(steady[0]))
            # A slot that the line itself frees goes to it at once: under its quota now, and before, it was so all the time.
            if self._is_group and max(used[line], used_before[line]) < _quota(held, line):
                self._nobody_beyond(line, steady[0], held, new, used)

    def _nobody_beyond(self, line: int, first: str, held: Held, new: Counter[int], used: Counter[int]) -> None:
        for other in new:
            if other != line and used[other] >= _quota(held, other) + 1:
                what = f"line {other} has {used[other]} slots and gets more, while line {line} has {used[line]} and people wait"
                raise Violated("quotas", f"{what}; their quotas are {_quota(held, other):.1f} and {_quota(held, line):.1f}",
                               self._seats.holder(first))  # fmt: skip


def _quota(held: Held, line: int) -> float:
    """So many slots are a line's while others want theirs; without a cap there are no quotas of slots."""
    return 0.0 if held.max_active is None else held.max_active * held.weights[line] / sum(held.weights)


def _askable(held: Held, line: int) -> list[str]:
    """Who is there and has had the time to show it, in order: those may be called."""
    of_line = [(int(member.rpartition(":")[2]), member) for member in held.ready if line_of(member) == line]
    return [member for position, member in sorted(of_line) if position <= held.settled[line]]


def _may_be_called(held: Held) -> int:
    """How many more may be called: free slots and units, where the rate plainly leaves room."""
    counted = len(held.called) + len(held.inside)
    room = [limit - counted for limit in (held.max_active,) if limit is not None]
    if held.inventory is not None:
        room.append(held.inventory - held.sold - counted)
    if held.tokens is not None:
        room.append(held.tokens - len(held.called))
    return min(room, default=1)
