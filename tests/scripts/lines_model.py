"""An account of a queue with lines, states, a draw and timers: what was seen after each step, and the laws over that.

It knows nothing of how a decision is made. A place is named by line and position.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field

Place = tuple[int, int]
FREE_AFTER_MS = 5000
CALLS = {"open", "draining"}
LEASES_RUN = CALLS | {"recovering"}
TAKES_NOBODY = {"not_open", "draining", "closed", "sold_out", "maintenance"}
TURNS_AT_MOST = 3


@dataclass(frozen=True)
class Seen:
    """The queue at one moment. `called`: place to the end of its lease; `inside`: place to the moment its slot is freed."""

    clock_ms: int
    lease_ms: int
    epoch: str
    status: str
    cursors: tuple[int, ...]
    held: tuple[int, ...]
    sold: int
    ready: frozenset[Place]
    seen: Mapping[Place, int]
    called: Mapping[Place, int]
    inside: Mapping[Place, int]
    claims: tuple[int, ...]

    @property
    def turns(self) -> set[Place]:
        """Who are called or inside."""
        return {*self.called, *self.inside}


@dataclass(frozen=True)
class Step:
    """What was done, to which place, with which verdict."""

    name: str
    place: Place | None = None
    verdict: str = ""

    @property
    def is_end(self) -> bool:
        """Whether the visit or the place was ended."""
        return self.name in ("left", "completed", "revoked")


@dataclass
class Account:
    """The account. Limits and timers are those of the queue and stay the same; None: no limit."""

    rate: int | None
    burst: int
    max_active: int | None
    inventory: int | None
    late_claim: str
    grace_ms: int
    visit_max_ms: int | None
    owners: dict[tuple[str, bool, Place], str] = field(default_factory=dict)
    places: dict[tuple[str, bool, str], Place] = field(default_factory=dict)
    missed: Counter[Place] = field(default_factory=Counter)
    came_in_ms: dict[Place, int] = field(default_factory=dict)
    paused: set[int] = field(default_factory=set)  # lines of a queue that is paused by itself

    def placed(self, epoch: str, visitor: str, place: Place, *, is_arrival: bool) -> None:
        """A visitor was told a place, or before the opening a number of arrival."""
        assert self.owners.setdefault((epoch, is_arrival, place), visitor) == visitor, f"{place} was given twice"
        assert self.places.setdefault((epoch, is_arrival, visitor), place) == place, f"{visitor} was told another place"

    def begun(self) -> None:
        """A reset: nothing of the older generation counts."""
        self.missed.clear()
        self.came_in_ms.clear()

    def step(self, was: Seen, now: Seen, done: Step) -> None:
        """Checks one step. Raises AssertionError in the words of the law that was broken."""
        assert now.clock_ms >= was.clock_ms, "the clock ran back"
        if was.status == now.status and now.status not in LEASES_RUN:
            assert now.lease_ms == was.lease_ms, f"a lease ran while {now.status}"
        self._slots(now)
        self._caps(was, now)
        self._vanished(was, now, done)
        self._turns(was, now)
        self._in_order(was, now)
        self._present(was, now, done)
        self._rate(now)

    def _slots(self, now: Seen) -> None:
        by_line = Counter(line for line, _ in (*now.called, *now.inside))
        assert now.held == tuple(by_line[line] for line in range(len(now.held))), "slots held by line are not those who hold them"
        assert not now.called.keys() & now.inside.keys()
        assert not now.ready & now.turns

    def _caps(self, was: Seen, now: Seen) -> None:
        count = len(now.turns)
        if self.max_active is not None:
            assert count <= self.max_active, f"{count} is above max_active"
        if self.inventory is not None:
            assert count + now.sold <= self.inventory, "more sold and in flight than there is"
        if was.status == now.status == "sold_out":
            assert now.turns <= was.turns, "somebody was called though all is sold"

    def _vanished(self, was: Seen, now: Seen, done: Step) -> None:
        for place, freed_ms in was.inside.items():
            if place not in now.inside and not (done.is_end and done.place == place):
                assert freed_ms <= now.clock_ms, f"{place} was inside and is not"
        for place, deadline_ms in was.called.items():
            if place not in now.turns and not (done.is_end and done.place == place):
                assert deadline_ms <= now.lease_ms, f"{place} lost its turn before its lease was over"
                self.missed[place] += 1
        for place in now.inside.keys() - was.inside.keys():
            assert place not in self.came_in_ms, f"{place} came in twice"
            self.came_in_ms[place] = now.clock_ms
        if self.visit_max_ms is not None:
            for place, freed_ms in now.inside.items():
                assert freed_ms <= self.came_in_ms[place] + self.visit_max_ms + FREE_AFTER_MS, "a visit without an end"

    def _turns(self, was: Seen, now: Seen) -> None:
        new = now.turns - was.turns
        assert not new or {was.status, now.status} & CALLS, f"turns {new} while {was.status}"
        assert not {place for place in new if place[0] in self.paused and place not in was.called}, "a paused line went on"
        for place in new:
            at_most = TURNS_AT_MOST if self.late_claim == "head" else 1
            assert self.missed[place] < at_most, f"{place} has missed {self.missed[place]} turns and has another"

    def _in_order(self, was: Seen, now: Seen) -> None:
        for line, position in now.turns - was.turns:
            cursor = was.cursors[line]
            assert position <= now.cursors[line]
            for other_line, before in was.ready & now.ready:
                is_passed_by = other_line == line and before < position and (before > cursor or position <= cursor)
                assert not is_passed_by, f"{position} of line {line} was called before {before}, who was there"
        for line, (before, after) in enumerate(zip(was.cursors, now.cursors, strict=True)):
            assert after >= before or now.status == "open", "a cursor moved back"
            passed = {place for place in was.ready & now.ready if place[0] == line and before < place[1] <= after}
            assert not passed, f"the cursor passed {passed}, who were there"

    def _present(self, was: Seen, now: Seen, done: Step) -> None:
        for place in was.ready - now.ready - now.turns:
            if done.place != place or not (done.is_end or done.name == "away" or done.verdict == "lapsed"):
                assert was.seen[place] <= now.lease_ms - self.grace_ms, f"{place} was there and counts as absent"

    def _rate(self, now: Seen) -> None:
        if self.rate is None:
            return
        for first, start_ms in enumerate(now.claims):
            count, span_ms = len(now.claims) - first, now.claims[-1] - start_ms
            assert count * 60_000 <= self.rate * span_ms + self.burst * 60_000, f"{count} claims in {span_ms} ms"
