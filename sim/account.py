"""An account of a sale that knows no script: what visitors were told, what Redis holds, and the laws over both.

Every answer is told to it, also one that was lost on the way to the visitor. A broken law raises `Violated`.
"""

from __future__ import annotations

from array import array
from collections import Counter
from collections.abc import Sequence
from dataclasses import replace

from edge.core.asking import SNAPSHOT_MAX_AGE_MS
from edge.core.commands import Answer
from edge.core.model import Queue
from edge.core.snapshot import Snapshot
from edge.core.states import QUEUE_STATES
from sim.people import NEVER_MS, Person, State
from sim.rate import Limits, Rate
from sim.raw import Held

SLOT_FREED_AFTER_MS = 5_000  # law: a slot is freed 5 s after its pass has expired
SWEPT_WITHIN_MS = 60_000  # sweeps are bounded, so a crowd that expires at once takes a while
SWEEP_EVERY_MS = 250  # between two sweeps an answer may tell the clock of the last one
LISTED_AT_MOST = 4_096  # law 7
OPS = ("join", "touch", "renew", "end")
VERDICTS = ("waiting", "called", "inside", "ended", "candidate", "recovering", "epoch", "missing", "freed", "left", "already",
            "late", "conflict", "paused", "closed", "sold_out", "not_open", "prequeue", "other")  # fmt: skip
_OP_NUMBER = {name: number for number, name in enumerate(OPS)}
_VERDICT_NUMBER = {name: number for number, name in enumerate(VERDICTS)}


class Violated(Exception):
    """A law is broken. `person`: whose history shows it, or None."""

    def __init__(self, law: str, what: str, at_ms: int, person: Person | None = None) -> None:
        super().__init__(f"{law}: {what}")
        self.law, self.what, self.at_ms, self.person = law, what, at_ms, person


class History:
    """What was answered to whom, compact: 18 bytes an answer."""

    def __init__(self) -> None:
        self._at, self._who, self._position = array("q"), array("i"), array("i")
        self._op, self._verdict = array("B"), array("B")

    def note(self, at_ms: int, who: int, op: str, verdict: str, position: int) -> None:
        """Adds one answer."""
        self._at.append(at_ms)
        self._who.append(who)
        self._position.append(position)
        self._op.append(_OP_NUMBER[op])
        self._verdict.append(_VERDICT_NUMBER.get(verdict, len(VERDICTS) - 1))

    def __len__(self) -> int:
        return len(self._at)

    def of(self, who: int) -> list[tuple[int, str, str, int]]:
        """(ms, step, verdict, position) of one person, in order."""
        return [
            (self._at[i], OPS[self._op[i]], VERDICTS[self._verdict[i]], self._position[i])
            for i, one in enumerate(self._who)
            if one == who
        ]


def member_of(line: int, position: int, name: str) -> str:
    """How Redis names a place: its position, after its line unless that is the first; a taken-over pass goes by its visitor."""
    if position == 0:
        return f"v{name}"
    return f"{line}:{position}" if line else str(position)


class Account:
    """The account of one queue. `persons`: by their index."""

    def __init__(self, queue: Queue, persons: Sequence[Person], at_ms: int) -> None:
        self._queue, self._persons = queue, persons
        limits = Limits(queue.admit_per_minute, queue.burst, queue.max_active, queue.inventory)
        self.rate = Rate(limits, at_ms)
        self.history = History()
        self.epoch = ""
        self.counts: Counter[str] = Counter()
        self.sold = self.sold_in_all = 0
        self._places: dict[tuple[int, int], int] = {}
        self._given: dict[int, tuple[int, int]] = {}
        self._numbers: dict[tuple[int, int], int] = {}  # of arrivals before the opening
        self._inside: dict[str, tuple[int, int]] = {}  # member -> (expires by the clock of Redis, person)
        self._over: dict[str, str] = {}
        self._expired: set[str] = set()
        self._lost: dict[str, int] = {}  # visitor -> expiry of a pass of a generation that was lost
        self._cursors: dict[int, int] = {}
        self._before: Held | None = None
        self._calm_from_ms = at_ms
        self._was_troubled = False
        self._at_ms = at_ms
        self._clock_ms = 0
        self.most_counted = 0

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
        self._inside.clear()

    def set_back(self, held: Held) -> None:
        """The state is an older one: what was given since is void, and its passes are taken over when they are renewed."""
        self._places = {place: who for place, who in self._places.items() if place[1] <= held.lengths[place[0]]}
        kept = set(self._places.values())
        self._given = {who: place for who, place in self._given.items() if who in kept}
        self._inside = {member: one for member, one in self._inside.items() if member in held.inside}
        for member in held.inside:
            self._over.pop(member, None)
        self.sold, self._before, self._clock_ms = held.sold, None, held.clock_ms
        self._cursors = dict(enumerate(held.cursors))
        self.rate.begin_in_debt(held.clock_ms)

    def _begin(self, epoch: str, clock_ms: int) -> None:
        is_first, self.epoch = not self.epoch, epoch
        if is_first:
            return
        self.counts["generations lost or reset"] += 1
        self._lost.update({self._persons[who].name: until for until, who in self._inside.values()})
        self._places.clear()
        self._given.clear()
        self._numbers.clear()
        self._inside.clear()
        self._over.clear()
        self._expired.clear()
        self._cursors.clear()
        self._before, self.sold = None, 0
        self.rate.begin_in_debt(clock_ms)

    # --- what visitors were told

    def heard(self, person: Person, op: str, answer: Answer, at_ms: int, asked: tuple[str, int], units: int = 0) -> None:
        """An answer to a step of `person`, whose token was of epoch and position `asked`. Raises Violated."""
        self._at_ms = at_ms
        verdict, snapshot = answer.verdict, answer.snapshot
        # Of another generation than the one in force, a token is known by its visitor only.
        of_epoch = snapshot is not None and asked[0] == snapshot.epoch
        position = asked[1] if of_epoch else 0
        if verdict in ("waiting", "called", "inside") or (verdict == "ended" and of_epoch):
            position = answer.number(0)
            if answer.line != person.line:
                self._break("lanes", f"the lane is line {person.line}, and {answer.details[0]} is in another", person)
        self.history.note(at_ms, person.index, op, verdict, position)
        if snapshot is None:
            return
        if snapshot.epoch != self.epoch:
            self._begin(snapshot.epoch, snapshot.clock_ms)
        if snapshot.clock_ms < self._clock_ms - SWEEP_EVERY_MS:
            self._break("clock", f"it went back by {self._clock_ms - snapshot.clock_ms} ms", person)
        self._clock_ms = max(self._clock_ms, snapshot.clock_ms)
        if verdict in ("waiting", "called", "inside") and position:
            self._placed(person, position, answer.is_arrival)
        if verdict == "called" and position > self._cursor_in(snapshot, person.line):
            self._break("order", f"{position} is called and the cursor is at {self._cursor_in(snapshot, person.line)}", person)
        if verdict == "inside":
            self._came_in(person, op, position, answer.number(1), snapshot.clock_ms, snapshot.status)
        elif verdict == "ended" and op == "renew" and self._lost.get(person.name, 0) > snapshot.clock_ms:
            self._break("lost state", "a pass of the lost generation is refused before it has run out", person)
        elif verdict == "ended" and op in ("touch", "renew"):
            known = self._inside.get(member_of(person.line, position, person.name))
            if known and known[0] > snapshot.clock_ms:
                self._break("slots", f"the pass of {position} is refused before it has run out", person)
        elif op == "end":
            self._ended(person, verdict, position, snapshot.clock_ms, units)

    @staticmethod
    def _cursor_in(snapshot: Snapshot, line: int) -> int:
        return snapshot.cursor

    def _break(self, law: str, what: str, person: Person | None = None) -> None:
        raise Violated(law, what, self._at_ms, person)

    def _placed(self, person: Person, position: int, is_arrival: bool) -> None:
        if is_arrival:
            holder = self._numbers.setdefault((person.line, position), person.index)
            if holder != person.index:
                self._break("positions", f"number {position} was given to visitor {holder} and to visitor {person.index}", person)
            return
        place = (person.line, position)
        holder = self._places.setdefault(place, person.index)
        if holder != person.index:
            self._break("positions", f"position {position} was given to visitor {holder} and to visitor {person.index}", person)
        before = self._given.setdefault(person.index, place)
        if before != place:
            self._break("positions", f"visitor {person.index} has two positions, {before[1]} and {position}", person)

    def _came_in(self, person: Person, op: str, position: int, expires_ms: int, clock_ms: int, status: str) -> None:
        member = member_of(person.line, position, person.name)
        if member in self._inside:
            if expires_ms < self._inside[member][0]:
                self._break("slots", f"the pass of {position} became shorter", person)
            if self._inside[member][0] + SLOT_FREED_AFTER_MS <= clock_ms:
                self._break("slots", f"the pass of {position} had run out and is good again", person)
            self._inside[member] = (expires_ms, person.index)
            return
        if member in self._over or member in self._expired:
            how = self._over.get(member, "expired")
            self._break("slots", f"the visit at {position} had ended ({how}) and is inside again", person)
        self._inside[member] = (expires_ms, person.index)
        if op == "renew":
            if not self._was_troubled:
                self._break("slots", f"a renewal let {position} in who was not inside", person)
            self._lost.pop(person.name, None)
            self.counts["passes taken over"] += 1
            return
        self._claimed(person, position, clock_ms, status)

    def _claimed(self, person: Person, position: int, clock_ms: int, status: str) -> None:
        if status != "open":
            self._break("states", f"{position} came in while the queue was {status}", person)
        self._lost = {name: until for name, until in self._lost.items() if until > clock_ms}
        if self._lost:
            self._break("lost state", f"{position} came in while {len(self._lost)} lost passes are good", person)
        self.counts["claims"] += 1
        if not self.rate.claim(clock_ms):
            self._break("rate", f"the claim of {position} is more than the rate and the burst allow", person)

    def _ended(self, person: Person, verdict: str, position: int, clock_ms: int, units: int) -> None:
        member = member_of(person.line, position, person.name)
        # However that went, the visit is over: a copy of a lost generation's pass in another tab is rightly refused.
        self._lost.pop(person.name, None)
        if verdict == "freed":
            if member in self._over:
                self._break("slots", f"the slot of {position} is freed twice", person)
            if self._inside.pop(member, None) is None and member not in self._expired:
                self._break("slots", f"the slot of {position} is freed, who was not inside", person)
        elif verdict == "late" and self._over.get(member) in ("freed", "late"):
            self._break("inventory", f"the purchase at {position} is counted twice", person)
        elif verdict == "already":
            known = self._inside.get(member)
            if known and known[0] > clock_ms:
                self._break("slots", f"the visit at {position} cannot end: its slot is gone", person)
        elif verdict == "left" and member in self._inside:
            self._break("slots", f"{position} is inside and gave up a place", person)
        if verdict in ("freed", "left", "late"):
            self._over[member] = verdict
            self.counts[verdict] += 1
        if verdict in ("freed", "late") and units:
            self.sold += units
            self.sold_in_all += units
            inventory = self.rate.limits.inventory
            if inventory is not None and self.sold > inventory:
                self._break("inventory", f"{self.sold} units are sold of {inventory}", person)

    def passed_door(self, person: Person, listed: int, at_ms: int) -> None:
        """A node let a pass through without asking Redis.

        Law 7: an ended one is refused within the snapshot's age; when the list of ended passes is full, at its renewal.
        """
        ago_ms = at_ms - person.ended_ms
        if listed >= LISTED_AT_MOST:
            self.counts["ended passes let in while the list was full"] += 1
        elif ago_ms > SNAPSHOT_MAX_AGE_MS and at_ms >= self._calm_from_ms:
            self._at_ms = at_ms
            self._break("passes", f"a pass that ended {ago_ms} ms ago opens the door", person)

    # --- what Redis holds

    def check(self, held: Held, at_ms: int) -> None:
        """Holds the account against Redis. Raises Violated."""
        self._at_ms = at_ms
        self.counts["checks"] += 1
        if held.epoch != self.epoch:
            self._begin(held.epoch, held.clock_ms)
        before = self._before if self._before and self._before.epoch == held.epoch else None
        if before is not None and held.clock_ms < before.clock_ms:
            self._break("clock", f"it went back by {before.clock_ms - held.clock_ms} ms")
        self._slots(held)
        self._stands_still(held, before)
        self._caps(held, before)
        self._order(held, before)
        self._before = held

    def _slots(self, held: Held) -> None:
        for member, deadline in held.inside.items():
            if member not in self._inside and member not in self._expired and not self._was_troubled:
                self._break("slots", f"{member} has a slot and nobody holds its pass: {self._over.get(member, 'never let in')}",
                            self._holder(member))  # fmt: skip
            if deadline < held.clock_ms - SWEPT_WITHIN_MS:
                self._break("slots", f"the slot of {member} leaks: it should be free for {held.clock_ms - deadline:.0f} ms",
                            self._holder(member))  # fmt: skip
        for member, deadline in held.called.items():
            if deadline < held.lease_ms - SWEPT_WITHIN_MS:
                self._break("slots", f"the lease of {member} does not end: over for {held.lease_ms - deadline:.0f} ms",
                            self._holder(member))  # fmt: skip
            if member in self._over:
                self._break("order", f"{member} gave up the place and has a turn", self._holder(member))
        for member, (expires_ms, who) in list(self._inside.items()):
            if expires_ms + SLOT_FREED_AFTER_MS <= held.clock_ms:
                del self._inside[member]
                self._expired.add(member)
            elif member not in held.inside:
                self._break("slots", f"{member} holds a pass and has no slot", self._persons[who])
        if held.called.keys() & held.inside.keys():
            self._break("slots", f"called and inside at once: {sorted(held.called.keys() & held.inside.keys())[:3]}")

    def _stands_still(self, held: Held, before: Held | None) -> None:
        """Nobody is called while the queue calls nobody (edge/core/states.py)."""
        if before is None or before.status != held.status or QUEUE_STATES[held.status].calls:
            return
        new = held.called.keys() - before.called.keys()
        if new and not self._was_troubled:
            self._break("states", f"{sorted(new)[0]} is called while the queue is {held.status}", self._holder(sorted(new)[0]))

    def _holder(self, member: str) -> Person | None:
        line, _, position = member.rpartition(":")
        who = self._places.get((int(line or 0), int(position))) if position.isdigit() else None
        return None if who is None else self._persons[who]

    def _caps(self, held: Held, before: Held | None) -> None:
        counted, limits = len(held.called) + len(held.inside), self.rate.limits
        self.most_counted = max(self.most_counted, counted)
        cap = limits.max_active
        if cap is not None and counted > cap and not self._was_above(before, cap):
            self._break("max_active", f"{counted} are called or inside, {cap} may be")
        if held.sold != self.sold:
            self._break("inventory", f"Redis says {held.sold} units are sold, {self.sold} were")
        stock = limits.inventory
        if stock is not None and counted + held.sold > stock and not self._was_above(before, stock, held.sold):
            self._break("inventory", f"{counted} in flight and {held.sold} sold are more than {stock}")

    def _was_above(self, before: Held | None, cap: int, sold: int = 0) -> bool:
        """A limit that was lowered evicts nobody; passes of a lost generation are taken over above it."""
        if self._was_troubled:
            return True
        return before is not None and len(before.called) + len(before.inside) + (before.sold if sold else 0) > cap

    def _order(self, held: Held, before: Held | None) -> None:
        is_calm = before is not None and self._calm_from_ms < self._at_ms and held.status == "open"
        for line, cursor in enumerate(held.cursors):
            last = self._cursors.get(line, 0)
            if cursor < last:
                self._break("order", f"the cursor of line {line} went back from {last} to {cursor}")
            self._cursors[line] = cursor
            if not is_calm or before is None:
                continue
            for position in range(last + 1, cursor + 1):
                self._passed(line, position, held)
        if before is not None:
            self._turns_kept(held, before)

    def _passed(self, line: int, position: int, held: Held) -> None:
        who = self._places.get((line, position))
        if who is None:
            return
        person, member = self._persons[who], member_of(line, position, "")
        if person.state != State.WAITING or member in held.called or member in self._inside or member in self._over:
            return
        if self.is_alert(person):
            self._break("order", f"{position} was there, polled as told, and was passed over", person)
        self.counts["absent passed over"] += 1

    def is_alert(self, person: Person) -> bool:
        """Whether someone polls as told, and has for long enough to count on being seen."""
        is_there = not person.is_bot and not person.absent and self._at_ms < person.closes_ms
        if person.hidden and self._queue.settle_s < 75:
            return False
        return is_there and self._at_ms < person.sleep_from_ms and person.alert_ms <= self._at_ms

    def _turns_kept(self, held: Held, before: Held) -> None:
        for member, deadline in before.called.items():
            has_turn = member in held.called or member in self._inside or member in self._over or member in self._expired
            if deadline > held.lease_ms + 1 and not has_turn:
                self._break("order", f"{member} lost its turn before its lease was over", self._holder(member))

    def check_end(self, held: Held, at_ms: int) -> None:
        """When everybody is gone and every timer has run out, nothing is left. Raises Violated."""
        self.check(held, at_ms)
        if held.inside or held.called:
            left = [*held.inside, *held.called][:5]
            what = f"{len(held.inside)} slots and {len(held.called)} turns leak after the end: {left}"
            self._break("slots", what, self._holder(left[0]))
        worst = self.rate.exceeded_minute()
        if worst and not self._was_troubled:
            self._break("rate", f"{worst[0]} claims in the 60 s up to {worst[2]} that allow {worst[1]}")
