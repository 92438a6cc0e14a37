"""What one visitor does up to the door, and what an edge does for it: the edge's rules are those of edge.core, called here."""

from __future__ import annotations

import random

from edge.core import commands, standing
from edge.core.calls import Answer, Call
from edge.core.errors import StoreBusy
from edge.core.lines import gives_no_places, numbered, seated, turned_away
from edge.core.outcome import waits_on
from edge.core.saying import AWAY_AFTER_MS, BUSY_RETRY_S, CAPPED_RETRY_S
from edge.core.snapshot import Snapshot
from edge.core.standing import CANDIDATE_POLL_S, UNAVAILABLE_POLL_S
from edge.core.tokens import Place
from sim.inside import Inside
from sim.node import Node
from sim.people import NEVER_MS, Person, State
from sim.sale import Sale
from sim.stage import CLAIM, POLL, TAB, Stage, finish, random_of

HIDDEN_POLL_MS = 60_000  # browsers run the timers of a hidden tab about once a minute
JITTER = (0.8, 1.2)  # as the waiting page does it
_REDIRECT_MS = 100  # from an invitation link to the request that it leads to
_LASTING_MS = 10**15


class Visits:
    """The steps of all visitors of one sale."""

    def __init__(self, sale: Sale, stage: Stage) -> None:
        self._sale, self._queue, self._stage = sale, sale.queue, stage
        self._scope, self._traits = sale.queue.scope, sale.people
        self._random = random.Random(sale.seed + 1)
        self.inside = Inside(sale, stage, self._random)

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
        node.counters.visit(self._scope, f"{person.index:064x}", at_ms)
        if snapshot is None:
            self._soon(person, BUSY_RETRY_S, at_ms, POLL)
        elif gives_no_places(snapshot):
            self._turned_away(person, snapshot, snapshot.status, at_ms, POLL)
        elif person.invite:
            # The link hands out the cookie, and the browser comes back with it at once.
            self._stage.at(at_ms + _REDIRECT_MS, POLL, person)
        elif person.is_bot or self._has_to_queue(node, snapshot, at_ms):
            self._again(person, CANDIDATE_POLL_S, at_ms, POLL)
        else:
            self._join(person, node, at_ms, POLL, direct=True)

    def _has_to_queue(self, node: Node, snapshot: Snapshot, at_ms: int) -> bool:
        is_holding = node.counters.is_holding(self._scope, node.redis_ms(at_ms))
        return snapshot.queueing == 2 or (snapshot.queueing == 1 and is_holding)

    def _join(self, person: Person, node: Node, at_ms: int, tab: int, *, direct: bool = False, old: bool = False) -> None:
        ticket = f"{person.index}{'' if direct else 'c'}{tab}"
        limit, now_ms = person.queue.places_per_network_per_minute, node.redis_ms(at_ms)
        if not old and not node.counters.take_place(person.queue.id, person.network, limit, now_ms, ticket):
            self._stage.tally.counts["places refused to a network"] += 1
            self._soon(person, CAPPED_RETRY_S, at_ms, tab)
            return
        epoch, position, line = person.epoch if old else "", person.position if old else 0, person.line
        invite = "" if person.epoch else person.invite  # whoever has a place keeps its line without

        def call(now_ms: int) -> Call:
            return commands.join(self._scope, person.name, random_of(person), direct=direct, wants_in=direct, old_epoch=epoch,
                                 old_position=position, old_line=line, old_arrival=person.arrival, line=line, invite=invite,
                                 line_without_invite=person.queue.line, now_ms=now_ms)  # fmt: skip

        self._stage.ask(call, person, "join", self._placed, at_ms, tab=tab)

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
        where = waits_on(seat, person.queue, snapshot, now_ms)
        if where is not None:
            if where.state == "sold_out" and self._goes_home(person, at_ms):
                return
            self._told(person, where, at_ms)
            self._again(person, where.poll_s, at_ms, tab)
            return

        def call(now_ms: int) -> Call:
            return commands.touch(self._scope, person.epoch, person.position, person.name, random_of(person), line=person.line,
                                  wants_in=wants_in, now_ms=now_ms)  # fmt: skip

        self._stage.ask(call, person, "touch", self._placed, at_ms, tab=tab)

    def _goes_home(self, person: Person, at_ms: int) -> bool:
        """Who reads that all is sold goes home, unless it is the turn that waits."""
        if person.state == State.CALLED:
            return False
        finish(self._stage, person, State.SOLD_OUT, at_ms, at_ms)
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
            self.inside.end(person, "left", at_ms)
            finish(self._stage, person, State.GAVE_UP, person.closes_ms, at_ms)
        else:
            finish(self._stage, person, State.CLOSED, person.closes_ms, at_ms)
        return True

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
            finish(self._stage, person, State.LAPSED, at_ms, at_ms)
        else:
            raise StoreBusy(f"the store answered {verdict}")

    def _turned_away(self, person: Person, snapshot: Snapshot, status: str, at_ms: int, tab: int) -> None:
        """No new places. Who reads that all is sold goes home; others look again."""
        if status == "sold_out":
            finish(self._stage, person, State.SOLD_OUT, at_ms, at_ms)
        else:
            where = turned_away(person.queue, snapshot, status, snapshot.clock_ms)
            self._again(person, where.poll_s, at_ms, tab)

    def _has_place(self, person: Person, answer: Answer, snapshot: Snapshot, at_ms: int, tab: int) -> None:
        if person.state == State.CANDIDATE:
            self._stage.tally.presence.change(1, at_ms)
            person.state, person.joined_ms = State.WAITING, at_ms
        person.epoch, person.position, person.touched_ms = snapshot.epoch, answer.number(0), snapshot.clock_ms
        if person.line != answer.line:
            self._stage.tally.counts["invitations found used"] += 1
            person.line = answer.line
        if answer.verdict == "inside":
            self.inside.came_in(person, answer, at_ms)
            return
        now_ms, whole = snapshot.clock_ms, self._stage.node().known(snapshot, person.line)
        person.arrival = answer.is_arrival
        if answer.verdict == "waiting":
            where = (numbered(person.queue, whole, person.position, person.line, now_ms) if person.arrival
                     else standing.in_line(person.queue, whole, person.position, now_ms))  # fmt: skip
            person.state = State.WAITING
            self._told(person, where, at_ms)
            self._again(person, where.poll_s, at_ms, tab)
            return
        retry_ms = answer.number(2)
        where = standing.called(person.queue, whole, person.position, now_ms, answer.number(1), retry_ms, status=snapshot.status)
        if person.called_ms < 0:
            person.called_ms = at_ms
        if person.state != State.CALLED:
            person.state = State.CALLED
        if retry_ms or person.absent or tab != POLL:
            self._again(person, where.poll_s, at_ms, CLAIM if retry_ms and not person.absent and tab == POLL else tab)
        else:
            self._stage.at(at_ms + round(self._random.uniform(1, max(1, self._traits.claim_after_s)) * 1000), CLAIM, person)
