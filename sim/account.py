"""An account of a sale that knows no script: what visitors were told, what Redis holds, and the laws over both.

Every answer is told to it, also one that was lost on the way to the visitor. A broken law raises `Violated`.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import replace

from edge.core.asking import SNAPSHOT_MAX_AGE_MS
from edge.core.calls import Answer
from edge.core.model import Queue
from edge.core.snapshot import Snapshot
from sim.history import History, Violated
from sim.people import NEVER_MS, Person
from sim.quotas import Quotas
from sim.rate import Limits, Rate
from sim.raw import Held
from sim.seats import Seats, member_of
from sim.slots import Slots
from sim.turns import Turns

SWEEP_EVERY_MS = 250  # between two sweeps an answer may tell the clock of the last one
LISTED_AT_MOST = 4_096  # law 7
_NO_VISIT = ("waiting", "called", "candidate", "recovering")  # most answers: they change nothing of a visit


class Account:
    """The account of one queue, or of a group, whose totals are those of `queue`. `persons`: by their index."""

    def __init__(self, queue: Queue, persons: Sequence[Person], at_ms: int) -> None:
        self._queue, self._persons = queue, persons
        limits = Limits(queue.admit_per_minute, queue.burst, queue.max_active, queue.inventory)
        self.rate = Rate(limits, at_ms)
        self.history = History()
        self.seats, self.slots = Seats(persons), Slots(queue)
        self.turns = Turns(queue, self.seats, self.slots)
        self.quotas = Quotas(queue, self.seats)
        self.epoch = ""
        self.counts: Counter[str] = Counter()
        self.sold = self.sold_in_all = 0
        self.most_counted = 0
        self._lost: dict[str, int] = {}  # visitor -> expiry of a pass of a generation that was lost
        self._before: Held | None = None
        self._calm_from_ms = at_ms
        self._was_troubled = self._is_reset = False
        self._clock_ms = 0

    # --- what happened to the queue

    def limits_are(self, clock_ms: int, changes: dict[str, int | None]) -> None:
        """An operator's live values, in force from now on."""
        names = {"admit_per_minute": "rate"}
        self.rate.change(replace(self.rate.limits, **{names.get(k, k): v for k, v in changes.items()}), clock_ms)

    def trouble_until(self, at_ms: int) -> None:
        """Until then, and as long again as presence counts, nobody may count on having been seen."""
        margin_ms = (self._queue.settle_s + self._queue.presence_grace_s) * 1000
        self._calm_from_ms = max(self._calm_from_ms, at_ms + margin_ms)
        self._was_troubled = True

    def everybody_goes(self) -> None:
        """The sale is over: nobody polls any more."""
        self._calm_from_ms = NEVER_MS

    def released(self) -> None:
        """The operator ends a recovery: what was inside before is the operator's word."""
        self._lost.clear()

    def reset(self) -> None:
        """The operator ends the generation: nothing of it counts."""
        self._lost.clear()
        self.slots.inside.clear()
        self._is_reset = True

    def set_back(self, held: Held) -> None:
        """The state is an older one: what was given since is void, and its passes are taken over when they are renewed."""
        for part in (self.seats, self.slots, self.turns):
            part.set_back(held)
        self.sold, self._before, self._clock_ms = held.sold, None, held.clock_ms
        self.rate.begin_in_debt(held.clock_ms)

    def _begin(self, epoch: str, clock_ms: int) -> None:
        is_first, self.epoch = not self.epoch, epoch
        if is_first:
            return
        self.counts["generations lost or reset"] += 1
        passes = self.slots.begin(is_lost=not self._is_reset)
        self._lost.update({self._persons[who].name: until for who, until in passes.items()})
        self.seats.begin()
        self.turns.begin()
        self._before, self.sold, self._is_reset = None, 0, False
        self.rate.begin_in_debt(clock_ms)

    # --- what visitors were told

    def heard(self, person: Person, op: str, answer: Answer, at_ms: int, asked: tuple[str, int], units: int = 0) -> None:
        """An answer to a step of `person`, whose token was of epoch and position `asked`. Raises Violated."""
        try:
            self._heard(person, op, answer, at_ms, asked, units)
        except Violated as broken:
            broken.at_ms = at_ms
            raise

    def _heard(self, person: Person, op: str, answer: Answer, at_ms: int, asked: tuple[str, int], units: int) -> None:
        verdict, snapshot = answer.verdict, answer.snapshot
        # Of another generation than the one in force, a token is known by its visitor only.
        of_epoch = snapshot is not None and asked[0] == snapshot.epoch
        position, line = asked[1] if of_epoch else 0, person.line
        is_placed = verdict in ("waiting", "called", "inside") or (verdict == "ended" and of_epoch)
        if is_placed:
            position = answer.number(0)
        self.history.note(at_ms, person.index, op, verdict, position)
        if snapshot is None:
            return
        if snapshot.epoch != self.epoch:
            self._begin(snapshot.epoch, snapshot.clock_ms)
        if snapshot.clock_ms < self._clock_ms - SWEEP_EVERY_MS:
            raise Violated("clock", f"it went back by {self._clock_ms - snapshot.clock_ms} ms", person)
        self._clock_ms = max(self._clock_ms, snapshot.clock_ms)
        if is_placed and position:
            line = answer.line
            self.seats.stands(person, line)
            if verdict != "ended":
                self.seats.placed(person, line, position, answer.is_arrival)
        if verdict == "called" and position > snapshot.cursor:
            raise Violated("order", f"{position} is called and the cursor is at {snapshot.cursor}", person)
        if verdict not in _NO_VISIT:
            self._seen(person, op, answer, snapshot, member_of(line, position, person.name), units)

    def _seen(self, person: Person, op: str, answer: Answer, snapshot: Snapshot, member: str, units: int) -> None:
        verdict, clock_ms = answer.verdict, snapshot.clock_ms
        if verdict == "inside":
            self._came_in(person, op, member, answer.number(1), snapshot)
        elif op == "checkout":
            self._paid(person, answer, member, clock_ms)
        elif verdict == "ended" and op == "renew" and self._lost.get(person.name, 0) > clock_ms:
            raise Violated("lost state", "a pass of the lost generation is refused before it has run out", person)
        elif verdict == "ended" and op in ("touch", "renew") and self.slots.is_good(member, clock_ms):
            raise Violated("slots", f"the pass of {member} is refused before it has run out", person)
        elif op == "end":
            self._ended(person, verdict, member, clock_ms, units)

    def _came_in(self, person: Person, op: str, member: str, expires_ms: int, snapshot: Snapshot) -> None:
        if not self.slots.came_in(person, member, expires_ms, snapshot.clock_ms):
            return
        if op == "renew":
            if not self._was_troubled:
                raise Violated("slots", f"a renewal let {member} in who was not inside", person)
            self._lost.pop(person.name, None)
            self.counts["passes taken over"] += 1
            return
        self._claimed(person, member, snapshot)

    def _claimed(self, person: Person, member: str, snapshot: Snapshot) -> None:
        if snapshot.status not in ("open", "draining"):
            raise Violated("states", f"{member} came in while the queue was {snapshot.status}", person)
        self._lost = {name: until for name, until in self._lost.items() if until > snapshot.clock_ms}
        if self._lost:
            raise Violated("lost state", f"{member} came in while {len(self._lost)} lost passes are good", person)
        self.counts["claims"] += 1
        self.slots.claimed(person, member, snapshot.clock_ms)
        if not self.rate.claim(snapshot.clock_ms):
            raise Violated("rate", f"the claim of {member} is more than the rate and the burst allow", person)

    def _paid(self, person: Person, answer: Answer, member: str, clock_ms: int) -> None:
        if answer.verdict == "checkout":
            self.counts["payments timed"] += 1
            self.slots.pays(person, member, answer.number(0), answer.number(1), clock_ms)
        elif answer.verdict == "refused":
            self.counts[f"time to pay refused: {answer.details[0]}"] += 1
            self.slots.refused_to_pay(person, member, answer.details[0])
        elif answer.verdict == "ended" and self.slots.is_good(member, clock_ms):
            raise Violated("slots", f"{member} cannot pay: its slot is gone", person)

    def _ended(self, person: Person, verdict: str, member: str, clock_ms: int, units: int) -> None:
        # However that went, the visit is over: a copy of a lost generation's pass in another tab is rightly refused.
        self._lost.pop(person.name, None)
        self.slots.ended(person, verdict, member, clock_ms, "completed" if units else "left")
        if verdict in ("freed", "left", "late"):
            self.counts[verdict] += 1
        if verdict in ("freed", "late") and units:
            self.sold += units
            self.sold_in_all += units
            inventory = self.rate.limits.inventory
            if inventory is not None and self.sold > inventory:
                raise Violated("inventory", f"{self.sold} units are sold of {inventory}", person)

    def passed_door(self, person: Person, listed: int, at_ms: int) -> None:
        """A node let a pass through without asking Redis.

        Law 7: an ended one is refused within the snapshot's age; when the list of ended passes is full, at its renewal.
        """
        ago_ms = at_ms - person.ended_ms
        if listed >= LISTED_AT_MOST:
            self.counts["ended passes let in while the list was full"] += 1
        elif ago_ms > SNAPSHOT_MAX_AGE_MS and at_ms >= self._calm_from_ms:
            broken = Violated("passes", f"a pass that ended {ago_ms} ms ago opens the door", person)
            broken.at_ms = at_ms
            raise broken

    # --- what Redis holds

    def check(self, held: Held, at_ms: int, *, is_over: bool = False) -> None:
        """Holds the account against Redis. `is_over`: everybody is gone and every timer has run out. Raises Violated."""
        try:
            self._check(held, at_ms)
            if is_over:
                self._check_end(held)
        except Violated as broken:
            broken.at_ms = at_ms
            raise

    def _check(self, held: Held, at_ms: int) -> None:
        self.counts["checks"] += 1
        if held.epoch != self.epoch:
            self._begin(held.epoch, held.clock_ms)
        before = self._before if self._before and self._before.epoch == held.epoch else None
        if before is not None and held.clock_ms < before.clock_ms:
            raise Violated("clock", f"it went back by {before.clock_ms - held.clock_ms} ms")
        self.slots.check(held, self.seats, was_troubled=self._was_troubled)
        self._caps(held, before)
        is_calm = self._calm_from_ms < at_ms
        self.turns.check(held, before, at_ms, is_calm=is_calm, was_troubled=self._was_troubled)
        self.quotas.check(held, before, is_calm=is_calm and not self._was_troubled)
        self.counts["absent passed over"] = self.turns.passed_over
        self._before = held

    def _caps(self, held: Held, before: Held | None) -> None:
        counted, limits = len(held.called) + len(held.inside), self.rate.limits
        self.most_counted = max(self.most_counted, counted)
        cap = limits.max_active
        if cap is not None and counted > cap and not self._was_above(before, cap):
            raise Violated("max_active", f"{counted} are called or inside, {cap} may be")
        if held.sold != self.sold:
            raise Violated("inventory", f"Redis says {held.sold} units are sold, {self.sold} were")
        stock = limits.inventory
        if stock is not None and counted + held.sold > stock and not self._was_above(before, stock, held.sold):
            raise Violated("inventory", f"{counted} in flight and {held.sold} sold are more than {stock}")

    def _was_above(self, before: Held | None, cap: int, sold: int = 0) -> bool:
        """A limit that was lowered evicts nobody; passes of a lost generation are taken over above it."""
        if self._was_troubled:
            return True
        return before is not None and len(before.called) + len(before.inside) + (before.sold if sold else 0) > cap

    def _check_end(self, held: Held) -> None:
        if held.inside or held.called:
            left = [*held.inside, *held.called][:5]
            what = f"{len(held.inside)} slots and {len(held.called)} turns leak after the end: {left}"
            raise Violated("slots", what, self.seats.holder(left[0]))
        self.slots.check_end(held)
        worst = self.rate.exceeded_minute()
        if worst and not self._was_troubled:
            raise Violated("rate", f"{worst[0]} claims in the 60 s up to {worst[2]} that allow {worst[1]}")
