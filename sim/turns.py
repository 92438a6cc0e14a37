"""Turns: who is called in which order, who is passed over, and that a turn lasts as long as it was promised."""

from __future__ import annotations

from edge.core.model import Queue
from edge.core.states import QUEUE_STATES
from sim.history import Violated
from sim.people import Person, State
from sim.raw import Held
from sim.seats import Seats, member_of
from sim.slots import SWEPT_WITHIN_MS, Slots


class Turns:
    """The calls of one queue, or of a group."""

    def __init__(self, queue: Queue, seats: Seats, slots: Slots) -> None:
        self._settle_s, self._seats, self._slots = queue.settle_s, seats, slots
        self._cursors: dict[int, int] = {}
        self.passed_over = 0
        # Lines of a queue that an operator has paused by itself, now and at the last look.
        self.paused: frozenset[int] = frozenset()
        self._stood: frozenset[int] = frozenset()

    def begin(self) -> None:
        """Another generation: nobody is called yet."""
        self._cursors.clear()

    def set_back(self, held: Held) -> None:
        """The state is an older one."""
        self._cursors = dict(enumerate(held.cursors))

    def check(self, held: Held, before: Held | None, at_ms: int, *, is_calm: bool, was_troubled: bool) -> None:
        """Holds the turns against what Redis had before. `is_calm`: whoever polls as told is seen. Raises Violated."""
        self._leases(held)
        if before is not None:
            self._stands_still(held, before, was_troubled=was_troubled)
        self._order(held, at_ms, is_calm=is_calm and before is not None and held.status == "open")
        if before is not None:
            self._turns_kept(held, before)
        self._stood = self.paused

    def _leases(self, held: Held) -> None:
        for member, deadline in held.called.items():
            if deadline < held.lease_ms - SWEPT_WITHIN_MS:
                what = f"the lease of {member} does not end: over for {held.lease_ms - deadline:.0f} ms"
                raise Violated("slots", what, self._seats.holder(member))
            if member in self._slots.over:
                raise Violated("order", f"{member} gave up the place and has a turn", self._seats.holder(member))
        both = held.called.keys() & held.inside.keys()
        if both:
            raise Violated("slots", f"called and inside at once: {sorted(both)[:3]}", self._seats.holder(min(both)))

    def _stands_still(self, held: Held, before: Held, *, was_troubled: bool) -> None:
        """Nobody is called while the queue calls nobody (edge/core/states.py), or the line is paused by itself."""
        new = held.called.keys() - before.called.keys()
        if was_troubled:
            return
        if new and before.status == held.status and not QUEUE_STATES[held.status].calls:
            raise Violated("states", f"{min(new)} is called while the queue is {held.status}", self._seats.holder(min(new)))
        for line in self._stood if self._stood == self.paused else ():
            of_line = [member for member in new if int(member.rpartition(":")[0] or 0) == line]
            if of_line or held.cursors[line] != before.cursors[line]:
                what = f"line {line}, which is paused, goes on from {before.cursors[line]} to {held.cursors[line]}"
                raise Violated("states", what, self._seats.holder(of_line[0]) if of_line else None)

    def _order(self, held: Held, at_ms: int, *, is_calm: bool) -> None:
        for line, cursor in enumerate(held.cursors):
            last = self._cursors.get(line, 0)
            if cursor < last:
                raise Violated("order", f"the cursor of line {line} went back from {last} to {cursor}")
            self._cursors[line] = cursor
            for position in range(last + 1, cursor + 1) if is_calm else ():
                self._passed(line, position, held, at_ms)

    def _passed(self, line: int, position: int, held: Held, at_ms: int) -> None:
        person, member = self._seats.at(line, position), member_of(line, position, "")
        if person is None or person.state != State.WAITING:
            return
        if member in held.called or member in self._slots.inside or member in self._slots.over:
            return
        if self._is_alert(person, at_ms):
            raise Violated("order", f"{position} was there, polled as told, and was passed over", person)
        self.passed_over += 1

    def _is_alert(self, person: Person, at_ms: int) -> bool:
        """Whether someone polls as told, and has for long enough to count on being seen."""
        is_there = not person.is_bot and not person.absent and at_ms < person.closes_ms
        if person.hidden and self._settle_s < 75:
            return False
        return is_there and at_ms < person.sleep_from_ms and person.alert_ms <= at_ms

    def _turns_kept(self, held: Held, before: Held) -> None:
        slots = self._slots
        for member, deadline in before.called.items():
            has_turn = member in held.called or member in slots.inside or member in slots.over or member in slots.expired
            if deadline > held.lease_ms + 1 and not has_turn:
                raise Violated("order", f"{member} lost its turn before its lease was over", self._seats.holder(member))
