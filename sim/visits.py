"""What one visitor does and what an edge does for it, step by step: the edge's rules are those of edge.core, called here."""

from __future__ import annotations

import random
from collections.abc import Callable
from dataclasses import replace
from typing import Protocol

from edge.core import commands, standing
from edge.core.commands import Answer, Call
from edge.core.errors import StoreBusy
from edge.core.lines import gives_no_places, numbered, seated, turned_away
from edge.core.outcome import is_ended, needs_nothing, waits_on
from edge.core.saying import AWAY_AFTER_MS, BUSY_RETRY_S, CAPPED_RETRY_S
from edge.core.snapshot import Snapshot
from edge.core.standing import CANDIDATE_POLL_S, UNAVAILABLE_POLL_S
from edge.core.tokens import Pass, Place
from sim.ledger import Tally
from sim.node import Node
from sim.people import NEVER_MS, Crowd, Person, State
from sim.sale import Sale

POLL, TAB, CLAIM, INSIDE, AFTER = range(5)
HIDDEN_POLL_MS = 60_000  # browsers run the timers of a hidden tab about once a minute
JITTER = (0.8, 1.2)  # as the waiting page does it
_LASTING_MS = 10**15


# Makes a call for a moment of the clock of Redis.
CallAt = Callable[[int], Call]
# Hears an answer, or None: person, answer, true time in ms, tab.
Then = Callable[[Person, Answer | None, int, int], None]


class Stage(Protocol):
    """What a visitor's step may ask of the run."""

    tally: Tally
    crowd: Crowd

    def at(self, at_ms: int, kind: int, person: Person) -> None:
        """Something happens later."""

    def ask(self, call_at: CallAt, person: Person, op: str, then: Then, at_ms: int, units: int = 0) -> None:
        """A step goes to Redis; `then` hears the answer, or None when none came."""

    def node(self) -> Node:
        """The edge node that the next request reaches."""

    def look(self, node: Node, at_ms: int) -> Snapshot | None:
        """What that node sees of the queue."""

    def passed_door(self, person: Person, listed: int, at_ms: int) -> None:
        """A pass that was ended opened the door of a node whose snapshot lists so many."""


class Visits:
    """The steps of all visitors of one sale."""

    def __init__(self, sale: Sale, stage: Stage) -> None:
        self._sale, self._queue, self._stage = sale, sale.queue, stage
        self._scope, self._traits = sale.queue.scope, sale.people
        self._random = random.Random(sale.seed + 1)
        self.tab = POLL

    # --- when to come again ---------------------------------------------------------------------------------------------

    def _again(self, person: Person, poll_s: float, at_ms: int, tab: int) -> None:
        wait_ms = round(poll_s * 1000 * self._random.uniform(*JITTER))
        if person.hidden and person.state == State.WAITING:
            wait_ms = max(wait_ms, HIDDEN_POLL_MS)
        self._stage.at(at_ms + wait_ms, tab, person)

    def _soon(self, person: Person, seconds: tuple[int, int], at_ms: int, tab: int) -> None:
        self._stage.at(at_ms + round(self._random.uniform(*seconds) * 1000), tab, person)

    # --- arriving -------------------------------------------------------------------------------------------------------

    def hit(self, at_ms: int) -> None:
        """A request without a cookie that never comes back with one."""
        node = self._stage.node()
        snapshot = self._stage.look(node, at_ms)
        self._stage.tally.counts["bot hits"] += 1
        if snapshot is None or self._has_to_queue(node, snapshot, at_ms):
            return
        # Nobody queues: it would simply walk in, as any visitor does. It is a visitor then, and vanishes.
        self._stage.tally.counts["bot hits that walked in"] += 1

    def arrive(self, person: Person, at_ms: int) -> None:
        """The first request of someone: a cookie, or straight in when nobody queues."""
        node, person.state = self._stage.node(), State.CANDIDATE
        if person.two_tabs:
            self._stage.at(at_ms + 1_500, TAB, person)
        snapshot = self._stage.look(node, at_ms)
        node.counters.visit(self._scope, f"{person.index:064x}")
        if snapshot is None:
            self._soon(person, BUSY_RETRY_S, at_ms, POLL)
        elif gives_no_places(snapshot):
            self._turned_away(person, snapshot, snapshot.status, at_ms, POLL)
        elif person.is_bot or self._has_to_queue(node, snapshot, at_ms):
            self._again(person, CANDIDATE_POLL_S, at_ms, POLL)
        else:
            self._join(person, node, at_ms, POLL, direct=True)

    def _has_to_queue(self, node: Node, snapshot: Snapshot, at_ms: int) -> bool:
        is_holding = node.counters.is_holding(self._scope, node.redis_ms(at_ms))
        return snapshot.queueing == 2 or (snapshot.queueing == 1 and is_holding)

    def _join(self, person: Person, node: Node, at_ms: int, tab: int, *, direct: bool = False, old: bool = False) -> None:
        ticket = f"{person.index}{'' if direct else 'c'}{tab}"
        limit, now_ms = self._queue.places_per_network_per_minute, node.redis_ms(at_ms)
        if not old and not node.counters.take_place(self._queue.id, person.network, limit, now_ms, ticket):
            self._stage.tally.counts["places refused to a network"] += 1
            self._soon(person, CAPPED_RETRY_S, at_ms, tab)
            return
        epoch, position, line = person.epoch if old else "", person.position if old else 0, person.line

        def call(now_ms: int) -> Call:
            return commands.join(self._scope, person.name, _random_of(person), direct=direct, wants_in=direct, old_epoch=epoch,
                                 old_position=position, old_line=line, old_arrival=person.arrival, line=line,
                                 now_ms=now_ms)  # fmt: skip

        self.tab = tab
        self._stage.ask(call, person, "join", self._placed, at_ms)

    # --- in line --------------------------------------------------------------------------------------------------------

    def poll(self, person: Person, at_ms: int, tab: int, *, wants_in: bool = False) -> None:
        """The page asks, or with `wants_in` the visitor goes in."""
        if person.state not in (State.CANDIDATE, State.WAITING, State.CALLED) or self._goes_away(person, at_ms, tab):
            return
        self._stage.tally.counts["polls"] += 1
        node = self._stage.node()
        snapshot = self._stage.look(node, at_ms)
        if snapshot is None:
            self._soon(person, BUSY_RETRY_S, at_ms, tab)
        elif node.away_ms(at_ms) >= AWAY_AFTER_MS:
            self._again(person, UNAVAILABLE_POLL_S, at_ms, tab)
        elif person.state == State.CANDIDATE and not person.position:
            self._join(person, node, at_ms, tab)
        else:
            self._ask(person, node, snapshot, at_ms, tab, wants_in)

    def _ask(self, person: Person, node: Node, snapshot: Snapshot, at_ms: int, tab: int, wants_in: bool) -> None:
        if snapshot.epoch != person.epoch:
            self._join(person, node, at_ms, tab, old=True)
            return
        now_ms = node.redis_ms(at_ms)
        place = Place(self._scope, person.epoch, person.name, person.position, person.touched_ms, _LASTING_MS,
                      person.line, person.arrival)  # fmt: skip
        seat = seated(place, snapshot)
        if seat is not place:
            person.position, person.arrival, person.touched_ms = seat.position, False, 0
        where = waits_on(seat, self._queue, snapshot, now_ms)
        if where is not None:
            if where.state == "sold_out" and self._goes_home(person, at_ms):
                return
            self._told(person, where, at_ms)
            self._again(person, where.poll_s, at_ms, tab)
            return

        def call(now_ms: int) -> Call:
            return commands.touch(self._scope, person.epoch, person.position, person.name, _random_of(person), line=person.line,
                                  wants_in=wants_in, now_ms=now_ms)  # fmt: skip

        self.tab = tab
        self._stage.ask(call, person, "touch", self._placed, at_ms)

    def _goes_home(self, person: Person, at_ms: int) -> bool:
        """Who reads that all is sold goes home, unless it is the turn that waits."""
        if person.state == State.CALLED:
            return False
        self._finish(person, State.SOLD_OUT, at_ms, at_ms)
        return True

    def _told(self, person: Person, where: standing.Standing, at_ms: int) -> None:
        estimates = self._stage.tally.estimates
        if person.index % estimates.every == 0 and where.state == "waiting":
            estimates.note(person.index, at_ms, where.wait)

    def _goes_away(self, person: Person, at_ms: int, tab: int) -> bool:
        """Whether the tab is closed by now, or the phone asleep."""
        margin_ms = (self._queue.settle_s + self._queue.presence_grace_s) * 1000
        if at_ms >= person.sleep_from_ms:
            person.sleep_from_ms, wakes_ms = NEVER_MS, at_ms + self._traits.sleep_s * 1000
            person.alert_ms = wakes_ms + margin_ms
            self._stage.at(wakes_ms, tab, person)
            return True
        if at_ms < person.closes_ms:
            return False
        if person.returns_ms > at_ms:
            self._stage.tally.counts["came back"] += 1
            person.alert_ms, person.closes_ms = person.returns_ms + margin_ms, NEVER_MS
            self._stage.at(person.returns_ms, tab, person)
            return True
        if person.leaves and person.state != State.CANDIDATE:
            self._end(person, "left", at_ms)
            self._finish(person, State.GAVE_UP, person.closes_ms, at_ms)
        else:
            self._finish(person, State.CLOSED, person.closes_ms, at_ms)
        return True

    def _finish(self, person: Person, state: State, ended_ms: int, at_ms: int) -> None:
        if person.state in (State.WAITING, State.CALLED):
            self._stage.tally.presence.change(-1, at_ms)
        person.state, person.ended_ms, person.held = state, ended_ms, None

    # --- what the store said --------------------------------------------------------------------------------------------

    def _placed(self, person: Person, answer: Answer | None, at_ms: int, tab: int) -> None:
        if person.is_over or person.state == State.INSIDE:
            return
        if answer is None or answer.snapshot is None:
            self._soon(person, BUSY_RETRY_S, at_ms, CLAIM if person.state == State.CALLED and tab == POLL else tab)
            return
        verdict, snapshot = answer.verdict, answer.snapshot
        if verdict in ("waiting", "called", "inside"):
            self._has_place(person, answer, snapshot, at_ms, tab)
        elif verdict == "candidate":
            self._stage.node().counters.hold(self._scope, snapshot.clock_ms + self._queue.candidate_hold_s * 500)
            self._again(person, CANDIDATE_POLL_S, at_ms, tab)
        elif verdict == "recovering":
            self._again(person, max(2, min(10, answer.number(0) // 1000)), at_ms, tab)
        elif verdict == "epoch":
            self._join(person, self._stage.node(), at_ms, tab, old=True)
        elif verdict == "refused":
            self._turned_away(person, self._stage.node().known(snapshot, person.line), answer.details[0], at_ms, tab)
        elif verdict in ("ended", "lapsed"):
            self._finish(person, State.LAPSED, at_ms, at_ms)
        else:
            raise StoreBusy(f"the store answered {verdict}")

    def _turned_away(self, person: Person, snapshot: Snapshot, status: str, at_ms: int, tab: int) -> None:
        """No new places. Who reads that all is sold goes home; others look again."""
        if status == "sold_out":
            self._finish(person, State.SOLD_OUT, at_ms, at_ms)
        else:
            where = turned_away(self._queue, snapshot, status, snapshot.clock_ms)
            self._again(person, where.poll_s, at_ms, tab)

    def _has_place(self, person: Person, answer: Answer, snapshot: Snapshot, at_ms: int, tab: int) -> None:
        if person.state == State.CANDIDATE:
            self._stage.tally.presence.change(1, at_ms)
            person.state, person.joined_ms = State.WAITING, at_ms
        person.epoch, person.position, person.touched_ms = snapshot.epoch, answer.number(0), snapshot.clock_ms
        if answer.verdict == "inside":
            self._came_in(person, answer, at_ms)
            return
        now_ms, whole = snapshot.clock_ms, self._stage.node().known(snapshot, person.line)
        person.arrival = answer.is_arrival
        if answer.verdict == "waiting":
            where = (numbered(self._queue, whole, person.position, person.line, now_ms) if person.arrival
                     else standing.in_line(self._queue, whole, person.position, now_ms))  # fmt: skip
            person.state = State.WAITING
            self._told(person, where, at_ms)
            self._again(person, where.poll_s, at_ms, tab)
            return
        retry_ms = answer.number(2)
        where = standing.called(self._queue, whole, person.position, now_ms, answer.number(1), retry_ms)
        if person.called_ms < 0:
            person.called_ms = at_ms
        if person.state != State.CALLED:
            person.state = State.CALLED
        if retry_ms or person.absent or tab != POLL:
            self._again(person, where.poll_s, at_ms, CLAIM if retry_ms and not person.absent and tab == POLL else tab)
        else:
            self._stage.at(at_ms + round(self._random.uniform(1, max(1, self._traits.claim_after_s)) * 1000), CLAIM, person)

    # --- inside ---------------------------------------------------------------------------------------------------------

    def _came_in(self, person: Person, answer: Answer, at_ms: int) -> None:
        self._stage.tally.presence.change(-1, at_ms)
        if person.called_ms < 0:
            person.called_ms = at_ms
        person.state, person.admitted_ms = State.INSIDE, at_ms
        person.held = self._pass_of(person, answer)
        person.visit_ends_ms = at_ms + self._stage.crowd.visit_ms(person)
        self._next_request(person, at_ms)

    def _pass_of(self, person: Person, answer: Answer) -> Pass:
        assert answer.snapshot is not None
        return Pass(self._scope, answer.snapshot.epoch, person.name, answer.number(0), answer.number(2), answer.number(1),
                    line=answer.line)  # fmt: skip

    def _next_request(self, person: Person, at_ms: int) -> None:
        every_ms = round(self._traits.request_every_s * 1000 * self._random.uniform(0.5, 1.5))
        ends_ms, began_ms = person.visit_ends_ms, person.admitted_ms
        is_paying = person.slow and at_ms + every_ms > began_ms + (ends_ms - began_ms) // 2
        self._stage.at(max(at_ms + 300, ends_ms if is_paying else min(ends_ms, at_ms + every_ms)), INSIDE, person)

    def request(self, person: Person, at_ms: int) -> None:
        """A request of someone inside; the last one ends the visit."""
        held = person.held
        if person.state != State.INSIDE or held is None:
            return
        self._stage.tally.counts["requests inside"] += 1
        if at_ms >= person.visit_ends_ms:
            self._goes_out(person, at_ms)
            return
        node = self._stage.node()
        snapshot = self._stage.look(node, at_ms)
        now_ms = node.redis_ms(at_ms)
        if snapshot is not None and held.expires_ms <= now_ms:
            self._finish(person, State.EXPIRED, at_ms, at_ms)
        elif snapshot is None or node.away_ms(at_ms) or needs_nothing(held, snapshot, now_ms):
            self._next_request(person, at_ms)
        else:
            self._stage.ask(_renewal(self._scope, held, _random_of(person)), person, "renew", self._renewed, at_ms)

    def _renewed(self, person: Person, answer: Answer | None, at_ms: int, tab: int) -> None:
        if person.state != State.INSIDE:
            return
        if answer is None:
            self._next_request(person, at_ms)  # the pass is good until it runs out; the next request tries again
        elif answer.verdict == "inside":
            person.held = self._pass_of(person, answer)
            assert answer.snapshot is not None
            person.epoch, person.position = answer.snapshot.epoch, answer.number(0)
            self._next_request(person, at_ms)
        else:
            self._finish(person, State.EXPIRED, at_ms, at_ms)

    def _goes_out(self, person: Person, at_ms: int) -> None:
        if person.vanishes:
            self._finish(person, State.VANISHED, at_ms, at_ms)
        else:
            self._end(person, "completed" if person.buys else "left", at_ms)

    def _end(self, person: Person, reason: commands.EndReason, at_ms: int) -> None:
        held = person.held
        epoch, position, line = (held or person).epoch, (held or person).position, (held or person).line

        def call(now_ms: int) -> Call:
            return commands.end(self._scope, epoch, position, person.name, reason, _random_of(person), line=line, now_ms=now_ms)

        self._stage.ask(call, person, "end", self._out, at_ms, 1 if reason == "completed" else 0)

    def _out(self, person: Person, answer: Answer | None, at_ms: int, tab: int) -> None:
        if person.state != State.INSIDE:
            return
        if answer is None:
            # The edge, or the site, repeats it: the step is safe to repeat.
            self._stage.tally.counts["ends repeated"] += 1
            self._stage.at(at_ms + 4_000, INSIDE, person)
        elif answer.verdict == "conflict":
            self._finish(person, State.CONFLICT, at_ms, at_ms)
        elif answer.verdict == "epoch":
            self._finish(person, State.EXPIRED, at_ms, at_ms)
        else:
            copy = person.held
            self._finish(person, State.BOUGHT if person.buys else State.LEFT, at_ms, at_ms)
            if person.two_tabs:
                # The other tab has the same cookie or the one before the last renewal, and asks at once or later.
                assert copy is not None
                every_ms = self._queue.renew_every_s * 1000 * self._random.choice((0, 1))
                person.held = replace(copy, renew_at_ms=copy.renew_at_ms - every_ms, expires_ms=copy.expires_ms - every_ms)
                self._stage.at(at_ms + self._random.choice((0, 200, 400, 2_000, 20_000)), AFTER, person)

    def request_after(self, person: Person, at_ms: int) -> None:
        """A request with a copy of a pass that was ended: the door must be shut."""
        held, person.held = person.held, None
        node = self._stage.node()
        snapshot = self._stage.look(node, at_ms)
        now_ms = node.redis_ms(at_ms)
        if held is None or snapshot is None or held.expires_ms <= now_ms or is_ended(held, snapshot):
            return
        if needs_nothing(held, snapshot, now_ms):
            self._stage.passed_door(person, len(snapshot.ended), at_ms)
            return
        self._stage.ask(_renewal(self._scope, held, _random_of(person)), person, "renew", self._shut, at_ms)

    def _shut(self, person: Person, answer: Answer | None, at_ms: int, tab: int) -> None:
        """The account looks at the answer; the visitor is gone."""


def _random_of(person: Person) -> str:
    return f"{person.index:016x}"


def _renewal(scope: str, held: Pass, random_hex: str) -> CallAt:
    def call(now_ms: int) -> Call:
        return commands.renew(scope, held.epoch, held.position, held.visitor, held.expires_ms, random_hex, line=held.line,
                              now_ms=now_ms)  # fmt: skip

    return call
