"""Who is inside, how long each pass is good, and how each visit ended: every slot is freed once, for a reason of its own."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass

from edge.core.model import Queue
from sim.history import Violated
from sim.people import Person
from sim.raw import Held
from sim.seats import Seats

SLOT_FREED_AFTER_MS = 5_000  # law: a slot is freed 5 s after its pass has expired
SWEPT_WITHIN_MS = 60_000  # sweeps are bounded, so a crowd that expires at once takes a while
BY_THEMSELVES = ("checkout_expired", "pass_expired", "idle_expired")


@dataclass(slots=True)
class Visit:
    """A pass in use, by the clock of Redis (ms). `last_ms`: the longest visit ends; `checkout_ms`: the time to pay does."""

    who: int
    expires_ms: int
    last_ms: int | None = None
    checkout_ms: int | None = None
    is_extended: bool = False

    def reasons(self) -> tuple[str, ...]:
        """Why it may have ended by itself: whoever sweeps says what is true by then. One, but for ends within a sweep's delay."""
        first_ms, found = self.expires_ms + SLOT_FREED_AFTER_MS, []
        for reason, end_ms in (("checkout_expired", self.checkout_ms), ("pass_expired", self.last_ms)):
            if end_ms is not None and end_ms <= first_ms + SWEPT_WITHIN_MS:
                found.append(reason)
                if end_ms <= first_ms:
                    return tuple(found)
        return (*found, "idle_expired")


class Slots:
    """The slots of one queue, or of a group."""

    def __init__(self, queue: Queue) -> None:
        self._visit_max_ms = None if queue.visit_max_s is None else queue.visit_max_s * 1000
        self._checkout_ms = (queue.checkout_s or 0) * 1000
        self.inside: dict[str, Visit] = {}
        self.over: dict[str, str] = {}
        self.expired: dict[str, tuple[str, ...]] = {}
        self.ends: Counter[str] = Counter()
        self._places_given_up = self._claims = 0
        self._was_lost = False

    def begin(self, *, is_lost: bool) -> dict[int, int]:
        """Another generation; answers who was inside in the old one, and until when their passes are good."""
        passes = {visit.who: visit.expires_ms for visit in self.inside.values()}
        for known in (self.inside, self.over, self.expired, self.ends):
            known.clear()
        self._places_given_up = self._claims = 0
        self._was_lost = self._was_lost or is_lost
        return passes

    def set_back(self, held: Held) -> None:
        """The state is an older one: passes that it does not know are taken over when they are renewed."""
        self.inside = {member: visit for member, visit in self.inside.items() if member in held.inside}
        for member in held.inside:
            self.over.pop(member, None)
        self._was_lost = True

    # --- what visitors were told

    def came_in(self, person: Person, member: str, expires_ms: int, clock_ms: int) -> bool:
        """A pass is granted or goes on; answers whether the visit is new. Raises Violated."""
        visit = self.inside.get(member)
        if visit is None:
            if member in self.over or member in self.expired:
                how = self.over.get(member, "expired")
                raise Violated("slots", f"the visit at {member} had ended ({how}) and is inside again", person)
            visit = self.inside[member] = Visit(person.index, expires_ms)
            return True
        if expires_ms < visit.expires_ms:
            raise Violated("slots", f"the pass of {member} became shorter", person)
        if visit.expires_ms + SLOT_FREED_AFTER_MS <= clock_ms:
            raise Violated("slots", f"the pass of {member} had run out and is good again", person)
        visit.expires_ms = expires_ms
        self._check_length(visit, member, person)
        return False

    def claimed(self, person: Person, member: str, clock_ms: int) -> None:
        """The new visit is a claim, from which the longest visit is counted. Raises Violated."""
        visit = self.inside[member]
        self._claims += 1
        if self._visit_max_ms is not None:
            visit.last_ms = clock_ms + self._visit_max_ms
        self._check_length(visit, member, person)

    @staticmethod
    def _check_length(visit: Visit, member: str, person: Person) -> None:
        for what, end_ms in (("the longest visit", visit.last_ms), ("the time to pay", visit.checkout_ms)):
            if end_ms is not None and visit.expires_ms > end_ms:
                raise Violated("timers", f"the pass of {member} outlasts {what} by {visit.expires_ms - end_ms} ms", person)

    def pays(self, person: Person, member: str, ends_ms: int, expires_ms: int, clock_ms: int) -> None:
        """The time to pay began, or was given once more. Raises Violated."""
        visit = self.inside.get(member)
        if visit is None:
            raise Violated("timers", f"{member} pays and is not inside", person)
        if ends_ms == visit.checkout_ms:
            return  # begun already
        if visit.is_extended:
            raise Violated("timers", f"the time to pay of {member} was given a third time", person)
        if ends_ms != clock_ms + self._checkout_ms:
            raise Violated("timers", f"{member} has {ends_ms - clock_ms} ms to pay, not {self._checkout_ms}", person)
        visit.is_extended, visit.checkout_ms, visit.expires_ms = visit.checkout_ms is not None, ends_ms, expires_ms
        self._check_length(visit, member, person)

    def refused_to_pay(self, person: Person, member: str, why: str) -> None:
        """No time, or no more time, was given. Raises Violated when it was due."""
        visit = self.inside.get(member)
        if visit is None or self._was_lost:
            return
        is_right = visit.is_extended if why == "extended" else visit.checkout_ms is None and why == "not_started"
        if not is_right:
            raise Violated("timers", f"{member} is refused time to pay ({why})", person)

    def ended(self, person: Person, verdict: str, member: str, clock_ms: int, reason: str) -> None:
        """The answer to a visitor, or site, who ends a visit or gives up a place. Raises Violated."""
        if verdict == "freed":
            if member in self.over:
                raise Violated("slots", f"the slot of {member} is freed twice", person)
            if self.inside.pop(member, None) is None and self.expired.pop(member, None) is None:
                raise Violated("slots", f"the slot of {member} is freed, who was not inside", person)
        elif verdict == "late" and self.over.get(member) in ("freed", "late"):
            raise Violated("inventory", f"the purchase at {member} is counted twice", person)
        elif verdict == "already":
            known = self.inside.get(member)
            if known and known.expires_ms > clock_ms:
                raise Violated("slots", f"the visit at {member} cannot end: its slot is gone", person)
        elif verdict == "left" and member in self.inside:
            raise Violated("slots", f"{member} is inside and gave up a place", person)
        if verdict in ("freed", "left", "late"):
            self.over[member] = verdict
            self.ends[reason] += 1
            self._places_given_up += verdict != "freed"

    def is_good(self, member: str, clock_ms: int) -> bool:
        """Whether a pass opens the door as far as was told."""
        visit = self.inside.get(member)
        return visit is not None and visit.expires_ms > clock_ms

    # --- what Redis holds

    def check(self, held: Held, seats: Seats, *, was_troubled: bool) -> None:
        """Holds slots, turns and the counters of ends against Redis. Raises Violated."""
        for member, deadline in held.inside.items():
            if member not in self.inside and member not in self.expired and not was_troubled:
                raise Violated("slots", f"{member} has a slot and nobody holds its pass: {self.over.get(member, 'never let in')}",
                               seats.holder(member))  # fmt: skip
            if deadline < held.clock_ms - SWEPT_WITHIN_MS:
                since_ms = held.clock_ms - deadline
                raise Violated("slots", f"the slot of {member} leaks: due for {since_ms:.0f} ms", seats.holder(member))
        for member, visit in list(self.inside.items()):
            if visit.expires_ms + SLOT_FREED_AFTER_MS <= held.clock_ms:
                self.expired[member] = visit.reasons()
                del self.inside[member]
            elif member not in held.inside:
                raise Violated("slots", f"{member} holds a pass and has no slot", seats.by_index(visit.who))
        if not self._was_lost:
            self._check_ends(held)

    def _check_ends(self, held: Held) -> None:
        """Each end has one reason: those that Redis counts are those that were told, and those that time brought."""
        for reason in ("completed", "left"):
            if held.ends[reason] != self.ends[reason]:
                raise Violated("ends", f"Redis says {held.ends[reason]} ended as {reason}, {self.ends[reason]} were told so")
        for reason in BY_THEMSELVES:
            possible = sum(reason in reasons for reasons in self.expired.values())
            if held.ends[reason] > possible:
                raise Violated("ends", f"Redis says {held.ends[reason]} ended as {reason}, {possible} can have")
        if held.ends["expired"] != sum(held.ends[reason] for reason in BY_THEMSELVES):
            raise Violated("ends", f"Redis says {held.ends['expired']} ended by themselves, and another number by their reasons")

    def check_end(self, held: Held) -> None:
        """Everybody is gone: each claim has ended once, for the reason that was due. Raises Violated."""
        if self._was_lost:
            return
        for reason in BY_THEMSELVES:
            certain = sum(reasons == (reason,) for reasons in self.expired.values())
            if held.ends[reason] < certain:
                raise Violated("ends", f"{certain} must have ended as {reason}, Redis says {held.ends[reason]}")
        told = self.ends["completed"] + self.ends["left"] - self._places_given_up
        if told + held.ends["expired"] != self._claims:
            raise Violated("ends", f"{self._claims} came in, and {told + held.ends['expired']} visits have ended")
