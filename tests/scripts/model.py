"""An independent account of one queue: what was seen of it, and the laws as checks over that.

It knows nothing of scripts, keys or how a decision is made. `Ledger` is told what was seen after every step and who
was given what; it raises AssertionError in the words of the law that was broken.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

MINUTE_MS = 60_000
HOUR_MS = 3_600_000
UNLIMITED = 10**18
SWEPT_AFTER_MS = 1_000  # longer than the pause between two sweeps
SWEEP = 50
MAX_STEP_MS = 75_000  # the longest stretch that the clock may jump while people wait


@dataclass(frozen=True)
class Limits:
    """What is in force; None: no limit."""

    rate: int | None = None
    burst: int | None = None
    max_active: int | None = None
    inventory: int | None = None

    @property
    def saved_up(self) -> int:
        """Admissions that idle time may save up."""
        return max(1, self.burst or (self.rate or 0) // 6)


@dataclass(frozen=True)
class Seen:
    """The queue at one moment. `called`: position to lease deadline; `inside`: member to Unix ms when its slot is freed."""

    clock_ms: int
    lease_ms: int
    epoch: str
    status: str
    length: int
    cursor: int
    horizon: int
    sold: int
    ready: frozenset[int]
    called: Mapping[int, int]
    inside: Mapping[str, int]
    limits: Limits

    @property
    def turns(self) -> set[int]:
        """Positions that are called or inside."""
        return {*self.called, *(int(member) for member in self.inside if member.isdigit())}


@dataclass
class Presence:
    """Of one place near the head: since when it has been asked for a sign of life, and the last one. Lease ms."""

    asked_ms: int
    seen_ms: int | None = None


@dataclass
class Step:
    """What was done: its name, whom it concerned, and whether it may have taken over a pass that the state did not know."""

    name: str
    ends: frozenset[str] = frozenset()
    takes_over: bool = False


@dataclass
class Ledger:
    """The account. `settle_ms`, `grace_ms`, `claim_ms`: timers of the queue; they stay the same."""

    settle_ms: int
    grace_ms: int
    claim_ms: int = 0
    places: dict[tuple[str, int], str] = field(default_factory=dict)
    given: dict[tuple[str, str], tuple[int, int]] = field(default_factory=dict)
    void: dict[tuple[str, str], tuple[int, int]] = field(default_factory=dict)
    over: set[int] = field(default_factory=set)
    presence: dict[int, Presence] = field(default_factory=dict)
    claims: list[int] = field(default_factory=list)
    limits: list[tuple[int, Limits]] = field(default_factory=list)
    lost_passes: dict[str, int] = field(default_factory=dict)
    came_back: dict[str, int] = field(default_factory=dict)
    order_known: bool = True

    # --- what visitors were told

    def placed(self, epoch: str, visitor: str, position: int, now: Seen) -> None:
        """A visitor holds a place."""
        assert position >= 1
        holder = self.places.setdefault((epoch, position), visitor)
        assert holder == visitor, f"position {position} was given to {holder} and to {visitor}"
        before, at_ms = self.given.setdefault((epoch, visitor), (position, now.clock_ms))
        if now.clock_ms - at_ms < HOUR_MS:
            assert before == position, f"{visitor} has two positions: {before} and {position}"
        self.given[epoch, visitor] = (position, now.clock_ms)
        self.void.pop((epoch, visitor), None)
        if epoch == now.epoch and position <= now.horizon:
            self.presence.setdefault(position, Presence(now.lease_ms)).seen_ms = now.lease_ms

    def refused_void(self, epoch: str, visitor: str, now: Seen) -> None:
        """A token that the state was set back behind got an answer as if nothing had happened."""
        _, set_back_ms = self.void.get((epoch, visitor), (0, -HOUR_MS))
        assert now.clock_ms - set_back_ms >= HOUR_MS, f"the lost place of {visitor} counts again"

    def returned(self, visitor: str, old_position: int) -> None:
        """A lost place came back within the grace."""
        if self.order_known:
            self.came_back.setdefault(visitor, old_position)

    def old_order_kept(self, epoch: str) -> None:
        """Lost places keep the order of their old positions."""
        new = {
            visitor: self.given[epoch, visitor][0]
            for visitor in self.came_back
            if (epoch, visitor) in self.given
        }
        by_old = sorted(new, key=lambda visitor: (self.came_back[visitor], new[visitor]))
        assert by_old == sorted(new, key=new.__getitem__), "the old order is lost"

    def gave_up(self, position: int) -> None:
        """The place is over for good."""
        self.over.add(position)

    # --- what happened to the state

    def begun(self, now: Seen, *, by_reset: bool = False) -> None:
        """A generation begins: nothing of the older one counts, but the rate after a reset, which is no loss of time."""
        self.over.clear()
        self.presence.clear()
        self.came_back.clear()
        self.order_known = True
        if not by_reset:
            self.claims.clear()
            self.limits[:] = [(now.clock_ms, now.limits)]

    def lost(self, passes: Mapping[str, int]) -> None:
        """The state was lost; `passes`: who may still be inside, and until when."""
        self.claims.clear()
        self.lost_passes = dict(passes)

    def set_back(self, now: Seen) -> None:
        """The state is an older one: what was given since is void, and who was present then is not known."""
        for (epoch, position), visitor in list(self.places.items()):
            if epoch != now.epoch or position > now.length:
                del self.places[epoch, position]
                self.given.pop((epoch, visitor), None)
                self.void[epoch, visitor] = (position, now.clock_ms)
        # An older backup may know again what one in between did not.
        for (epoch, visitor), (position, _) in list(self.void.items()):
            if epoch == now.epoch and position <= now.length:
                del self.void[epoch, visitor]
        self.begun(now)
        # A recovery that it was in the middle of knows who came back to it; we do not.
        self.order_known = False
        self.presence.update((position, Presence(-HOUR_MS)) for position in range(1, now.horizon + 1))

    def accounted(self, visitor: str) -> None:
        """A pass of the lost generation was taken over or has ended."""
        self.lost_passes.pop(visitor, None)

    # --- the laws

    def step(self, was: Seen, now: Seen, done: Step) -> None:
        """Checks one step within one generation."""
        self._clock(was, now)
        self._nobody_vanishes(was, now, done)
        self._caps(was, now, done)
        assert not self.over & now.turns, "who gave up the place, or ended the visit, still has the turn"
        self._what_ends(was, now)
        new = set() if done.takes_over else now.turns - was.turns
        if new:
            assert was.status == "open" or now.status == "open", f"turns {new} while {was.status}"
        self._order(was, now, new, done)
        if not done.takes_over:
            self._claimed(was, now)
        if self.limits[-1][1] != now.limits:
            self.limits.append((now.clock_ms, now.limits))
        for position in range(1, now.horizon + 1):
            self.presence.setdefault(position, Presence(now.lease_ms))

    def _what_ends(self, was: Seen, now: Seen) -> None:
        """Leases have their full length, and what has run out is gone after the next sweep (a sweep ends at most 50)."""
        for position in now.called.keys() - was.called.keys():
            assert now.called[position] >= was.lease_ms + self.claim_ms, f"the lease of {position} is too short"
        if now.clock_ms - was.clock_ms < SWEPT_AFTER_MS:
            return
        turns = [position for position, until in now.called.items() if was.called.get(position) == until <= was.lease_ms]
        slots = [member for member, until in now.inside.items() if was.inside.get(member) == until <= was.clock_ms]
        assert not turns or len(turns) >= SWEEP, f"the turns of {turns} should have ended"
        assert not slots or len(slots) >= SWEEP, f"the slots of {slots} should have been freed"

    def _clock(self, was: Seen, now: Seen) -> None:
        assert now.clock_ms >= was.clock_ms, "the clock ran back"
        assert now.lease_ms >= was.lease_ms
        if was.ready or was.called:
            assert now.clock_ms - was.clock_ms <= MAX_STEP_MS, "a jump while people wait"

    def _nobody_vanishes(self, was: Seen, now: Seen, done: Step) -> None:
        for member, freed_ms in was.inside.items():
            if member not in now.inside and member not in done.ends:
                assert freed_ms <= now.clock_ms, f"{member} was inside and is not"
        for position, deadline_ms in was.called.items():
            if position not in now.turns and str(position) not in done.ends:
                assert deadline_ms <= now.lease_ms, f"{position} lost its turn before its lease was over"

    def _caps(self, was: Seen, now: Seen, done: Step) -> None:
        counted, counted_was = len(now.called) + len(now.inside), len(was.called) + len(was.inside)
        for name, cap, sold, sold_was in (
            ("max_active", now.limits.max_active, 0, 0),
            ("inventory", now.limits.inventory, now.sold, was.sold),
        ):
            if cap is not None and counted + sold > cap and not done.takes_over:
                assert counted + sold <= counted_was + sold_was, (
                    f"{counted} + {sold} sold is above {name} {cap}"
                )

    def _order(self, was: Seen, now: Seen, new: set[int], done: Step) -> None:
        """Between the old and the new cursor everybody is called, over, or absent for long enough."""
        assert now.cursor >= was.cursor
        assert not new or now.cursor >= max(new)
        for position in range(was.cursor + 1, now.cursor + 1):
            if (
                str(position) in done.ends
                or position in now.turns
                or position in self.over
                or (now.epoch, position) not in self.places
            ):
                continue
            presence = self.presence.get(position)
            assert presence is not None, f"{position} was passed over before it was asked for a sign of life"
            if presence.seen_ms is None:
                assert now.lease_ms - presence.asked_ms >= self.settle_ms, (
                    f"{position} was passed over too early"
                )
            else:
                assert now.lease_ms - presence.seen_ms >= self.grace_ms, (
                    f"{position} was there and was passed over"
                )

    def _claimed(self, was: Seen, now: Seen) -> None:
        for _ in now.inside.keys() - was.inside.keys():
            waiting_for = [visitor for visitor, until in self.lost_passes.items() if until > now.clock_ms]
            assert not waiting_for, f"someone came in before the passes of {waiting_for} were accounted for"
            self.claims.append(now.clock_ms)
        if self.claims and self.claims[-1] == now.clock_ms:
            self._rate(now)

    def _rate(self, now: Seen) -> None:
        """Any stretch of up to a minute holds no more claims than it earned, and the largest burst in force in it."""
        self.claims = [at for at in self.claims if at > now.clock_ms - MINUTE_MS]
        for number, start_ms in enumerate(self.claims):
            count, most = len(self.claims) - number, self._most(start_ms, now)
            assert count * MINUTE_MS <= most, (
                f"{count} claims in {now.clock_ms - start_ms} ms that allow {most / MINUTE_MS:.2f}"
            )

    def _most(self, start_ms: int, now: Seen) -> int:
        """Admissions times MINUTE_MS that may fall between `start_ms` and now."""
        earned, burst = 0, 0
        ends = [from_ms for from_ms, _ in self.limits[1:]] + [now.clock_ms]
        in_force = [*zip(self.limits, ends, strict=True), ((now.clock_ms, now.limits), now.clock_ms)]
        for (from_ms, limits), until_ms in in_force:
            if until_ms >= start_ms:
                if limits.rate is None:
                    return UNLIMITED
                earned += limits.rate * max(0, until_ms - max(from_ms, start_ms))
                burst = max(burst, limits.saved_up)
        return earned + burst * MINUTE_MS
