"""A queue with its visitors, edges and operators: every step is seen by the ledger, which checks the laws."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Literal

from edge.core.calls import Answer
from edge.core.commands import EndReason
from tests.scripts.backends import Store
from tests.scripts.line import START_MS, Line, Ticket
from tests.scripts.model import Ledger, Limits, Seen, Step

SETTINGS: dict[str, Any] = {
    "claim_within_s": 20,
    "idle_s": 60,
    "renew_every_s": 20,
    "poll_s": 5,
    "settle_s": 20,
    "presence_grace_s": 40,
    "candidate_hold_s": 5,
}
_PROGRESS = {"candidate": 0, "recovering": 0, "waiting": 1, "called": 2, "inside": 3, "ended": 3}


@dataclass(eq=False)
class Person:
    """A visitor with a cookie: a place, or a pass (`held`)."""

    name: str
    place: Ticket | None = None
    held: Ticket | None = None


class World:
    """What can be done to one queue. `was`: what was seen after the last step."""

    def __init__(self, store: Store, **settings: Any) -> None:
        store.command("FLUSHALL")
        self.store, self.line = store, Line(store, **SETTINGS, **settings)
        self.people: list[Person] = []
        self.killed: set[str] = set()
        self.newcomers = self._batches = 0
        self.ledger = Ledger(*(SETTINGS[name] * 1000 for name in ("settle_s", "presence_grace_s", "claim_within_s")))
        self.was = self.see()
        self.ledger.begun(self.was)

    @property
    def inside(self) -> list[Person]:
        """Who hold a pass."""
        return [person for person in self.people if person.held]

    @property
    def waiting(self) -> list[Person]:
        """Who hold a place."""
        return [person for person in self.people if person.place]

    # --- seeing and checking

    def see(self) -> Seen:
        """The queue as it is in the store."""
        state = self.line.state()
        ready, called, inside = (self.line.scores(part) for part in ("ready", "called", "active"))
        return Seen(
            clock_ms=int(state["clock"]),
            lease_ms=int(state["clock"]) - int(state["lease_behind"]),
            epoch=state["epoch"],
            status=state["status"],
            length=int(state["length"]),
            cursor=int(state["cursor"]),
            horizon=int(state["horizon"]),
            sold=int(state["sold"]),
            ready=frozenset(map(int, ready)),
            called={int(member): int(score) for member, score in called.items()},
            inside={member: int(score) for member, score in inside.items()},
            limits=Limits(
                *(
                    int(state[name]) if state[name] else None
                    for name in ("rate", "burst", "max_active", "inventory")
                )
            ),
        )

    def check(self, name: str, ends: frozenset[str] = frozenset(), takes_over: bool = False) -> Seen:
        """Looks at the queue after a step."""
        was, now = self.was, self.see()
        if now.epoch == was.epoch:
            self.ledger.step(was, now, Step(name, ends, takes_over))
        else:
            self.ledger.begun(now, by_reset=name == "reset")
            if name != "reset":
                held = [person.held for person in self.inside if person.held]
                self.ledger.lost(
                    {each.visitor: each.expires_ms for each in held if each.epoch not in self.killed}
                )
        self.was = now
        return now

    def ask(self, what: Callable[[], Answer]) -> Answer:
        """Runs a step as an edge does: a state that is missing is begun, in recovery."""
        answer = what()
        if answer.verdict == "missing":
            assert self.line.configure().verdict == "recovering"
            answer = what()
        return answer

    def ask_twice(self, what: Callable[[], Answer], name: str) -> Answer:
        """The step, and once more because the answer was lost: nothing may change by that but time's own work."""
        first = self.ask(what)
        self.check(name)
        again = self.ask(what)
        if again.verdict == "epoch":
            return again
        assert _PROGRESS[again.verdict] >= _PROGRESS[first.verdict], (first, again)
        if first.verdict in ("waiting", "called", "inside"):
            assert again.details[0] == first.details[0], "another place for the same visitor"
        if first.verdict == "inside":
            assert again.details[1] == first.details[1], "another pass for the same visit"
        return again

    # --- visitors

    def newcomer(self) -> Person:
        """Someone who was not here before."""
        self.newcomers += 1
        self.people.append(Person(f"n{self.newcomers}"))
        return self.people[-1]

    def join(self, person: Person, *, wants_in: bool, is_doubled: bool = False, direct: bool = False) -> None:
        """Asks for a place, with the old one if there is one."""

        def what() -> Answer:
            return self.line.join(person.name, direct=direct, wants_in=wants_in, old=person.place)

        self._heard(person, self.ask_twice(what, "join") if is_doubled else self.ask(what), "join")

    def crowd(self, count: int) -> None:
        """Many newcomers at once, looked at when all are there."""
        arrived = [
            (person := self.newcomer(), self.ask(lambda: self.line.join(person.name))) for _ in range(count)
        ]
        now = self.check("join")
        for person, answer in arrived:
            if answer.verdict in ("waiting", "called"):
                person.place = self.line.ticket(person.name, answer)
                self.ledger.placed(person.place.epoch, person.name, person.place.position, now)

    def join_direct(self) -> None:
        """A newcomer without a cookie."""
        person = self.newcomer()
        self.join(person, wants_in=True, direct=True)
        if ticket := person.held or person.place:
            others = (self.was.ready | self.was.called.keys()) - {ticket.position}
            assert not others, f"a place without a cookie while {others} wait"

    def touch(self, person: Person, *, wants_in: bool, is_doubled: bool = False) -> None:
        """A poll; a place of another epoch joins with it."""
        place = person.place
        assert place is not None

        def what() -> Answer:
            return self.line.touch(place, wants_in=wants_in)

        answer = self.ask(what)
        if is_doubled and answer.verdict != "epoch":
            self.check("touch")
            answer = self.ask_twice(what, "touch")
        if answer.verdict == "epoch":
            self.join(person, wants_in=wants_in, is_doubled=is_doubled)
        else:
            self._heard(person, answer, "touch")

    def touch_unheard(self, person: Person) -> None:
        """A claim whose answer is lost: the visitor keeps the old cookie."""
        place = person.place
        assert place is not None
        self.ask(lambda: self.line.touch(place, wants_in=True))
        self.check("touch")

    def _heard(self, person: Person, answer: Answer, name: str) -> None:
        now = self.check(name)
        if answer.verdict in ("waiting", "called", "inside"):
            ticket = self.line.ticket(person.name, answer)
            if person.place and person.place.epoch == ticket.epoch:
                self.ledger.refused_void(ticket.epoch, person.name, now)
            self.ledger.placed(ticket.epoch, person.name, ticket.position, now)
            self.ledger.old_order_kept(ticket.epoch)
            person.place, person.held = (None, ticket) if answer.verdict == "inside" else (ticket, None)
        elif answer.verdict == "ended":
            person.place = person.held = None
            self.ledger.gave_up(answer.number(0))
        elif answer.verdict == "recovering" and person.place and person.place.epoch not in self.killed:
            self.ledger.returned(person.name, person.place.position)

    def renew(self, person: Person, *, is_doubled: bool = False) -> None:
        """A pass in use is renewed."""
        held = person.held
        assert held is not None
        answer = self.ask(lambda: self.line.renew(held))
        is_known = str(held.position) in self.was.inside and held.epoch == self.was.epoch
        self.check("renew", takes_over=not is_known)
        if is_doubled:
            assert self.ask(lambda: self.line.renew(held)).verdict == answer.verdict
            self.check("renew", takes_over=not is_known)
        if answer.verdict == "inside":
            assert held.epoch not in self.killed, "a pass that a reset killed is good again"
            person.held = self.line.ticket(person.name, answer)
        else:
            person.held = None
        self.ledger.accounted(person.name)

    def end(self, person: Person, reason: EndReason, *, is_doubled: bool = False) -> None:
        """A visit or a place ends."""
        ticket, was_inside = person.held or person.place, person.held is not None
        assert ticket is not None
        answer = self.ask(lambda: self.line.end(ticket, reason))
        ends = frozenset({str(ticket.position), f"v{person.name}"})
        now = self.check("end", ends)
        if is_doubled:
            again = self.ask(lambda: self.line.end(ticket, reason))
            assert again.verdict not in ("freed", "left", "late"), "ended twice"
            now = self.check("end", ends)
        if answer.verdict in ("freed", "left"):
            assert was_inside == (answer.verdict == "freed")
            person.place = person.held = None
            if ticket.epoch == now.epoch and ticket.position:
                self.ledger.gave_up(ticket.position)
        if was_inside and answer.verdict != "epoch":
            self.ledger.accounted(person.name)

    # --- operators and edges

    def admit(self, count: int, *, is_doubled: bool) -> None:
        """An operator's batch."""
        self._batches += 1
        request_id = f"batch-{self._batches}"
        first = self.ask(lambda: self.line.admit(count, request_id))
        now = self.check("admit")
        if first.verdict == "ok" and is_doubled:
            again = self.ask(lambda: self.line.admit(count, request_id))
            assert (again.details, self.see().turns) == (first.details, now.turns), "called twice"

    def set_limit(self, name: str, value: int | Literal["="] | None) -> None:
        """An operator's live value."""
        assert self.ask(lambda: self.line.set_limits(values={name: value})).verdict == "ok"
        self.check("limits")

    def publish(self, rate: int | None, max_active: int | None) -> None:
        """A newer configuration is offered."""
        assert self.line.configure(admit_per_minute=rate, max_active=max_active).verdict == "taken"
        self.check("configure")

    def control(self, action: Literal["pause", "resume"]) -> None:
        """A pause, or its end; an operator may also release a recovery."""
        was_recovering = self.was.status == "recovering"
        answer = self.ask(lambda: self.line.control(action))
        if action == "resume" and was_recovering and answer.details[0] == "open":
            self.ledger.lost_passes.clear()
        self.check(action)

    def reset(self) -> None:
        """An operator ends the epoch: its tokens are strangers from now on, and those of older ones too."""
        self.heartbeat()
        self.killed.add(self.was.epoch)
        self.killed |= {ticket.epoch for person in self.people if (ticket := person.held or person.place)}
        self.line.control("reset")
        self.ledger.lost_passes.clear()
        self.check("reset")

    def heartbeat(self) -> None:
        """An edge takes the snapshot."""
        answer = self.ask(self.line.snapshot)
        now = self.check("snapshot")
        assert answer.snapshot is not None
        assert answer.snapshot.inside == len(now.inside)
        for position in range(1, now.length + 2, 17):
            assert 0 <= answer.snapshot.ahead(position) < position

    # --- time and trouble

    def live(self, seconds: int) -> None:
        """Time passes with a heartbeat."""
        for _ in range(seconds // 5):
            self.line.wait(5)
            self.heartbeat()

    def jump(self, seconds: float) -> None:
        """The server's clock is set."""
        self.line.now_ms = max(START_MS, self.line.now_ms + round(seconds * 1000))

    def lose(self) -> None:
        """Redis loses all. Passes that a reset had killed cannot be told from others after that."""
        self.store.command("FLUSHALL")
        self.killed.clear()
        self.heartbeat()

    def dump(self) -> tuple[dict[str, str], frozenset[str]]:
        """The state, to be set back to; and what was killed by then."""
        return self.store.dump(), frozenset(self.killed)

    def set_back(self, dump: dict[str, str], killed: frozenset[str]) -> None:
        """A lagging replica takes over, or a backup is restored."""
        self.store.restore(dump)
        self.killed = set(killed)
        self.was = self.see()
        self.ledger.set_back(self.was)
        self.ledger.lost({})
