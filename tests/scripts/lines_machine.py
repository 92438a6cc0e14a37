"""Everything that can happen to a queue with lanes or a group, a schedule with a draw, modes, late claims and visit timers."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime
from typing import Any

from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, rule

from edge.core import draw
from edge.core.calls import Answer, read_member
from edge.core.commands import Action, EndReason
from tests.scripts.backends import Store
from tests.scripts.line import START_MS, Line, Ticket
from tests.scripts.lines_model import TAKES_NOBODY, Account, Seen, Step

TIMERS: dict[str, Any] = {
    "claim_within_s": 20, "idle_s": 60, "renew_every_s": 20, "poll_s": 5, "settle_s": 20, "presence_grace_s": 40,
    "candidate_hold_s": 5, "late_claim_within_s": 60,
}  # fmt: skip
LANES = [{"name": "standard", "share": 3}, {"name": "vip", "share": 1}]
QUEUES = [{"name": "one", "share": 2}, {"name": "two", "share": 1}, {"name": "three", "share": 1}]


def _moment(seconds: float) -> str:
    return datetime.fromtimestamp(START_MS / 1000 + seconds, UTC).strftime("%Y-%m-%dT%H:%M:%SZ")


OPENS_AFTER_S = 20
DRAWN = {"prequeue_at": _moment(0), "opens_at": _moment(OPENS_AFTER_S), "spread_s": 10}
BEGINNINGS: dict[str, dict[str, Any]] = {
    "lanes by rate": {"lanes": LANES, "admit_per_minute": 120, "burst": 4, "late_claim": "back"},
    "lanes by slots": {
        "lanes": LANES, "admit_per_minute": None, "max_active": 6, "checkout_s": 30, "visit_max_s": 45, "late_claim": "refused"},
    "a group": {"lanes": QUEUES, "is_group": True, "admit_per_minute": None, "max_active": 9, "inventory": 14},
    "drawn lanes": {**DRAWN, "lanes": LANES, "admit_per_minute": None, "max_active": 5},
    "a sale": {**DRAWN, "admit_per_minute": 60, "burst": 3, "max_active": 8, "inventory": 12, "closes_at": _moment(400)},
    "in the order of arrival": {
        **DRAWN, "prequeue_order": "arrival", "admit_per_minute": None, "max_active": 4, "late_claim": "back", "visit_max_s": 60},
}  # fmt: skip
ACTIONS: tuple[Action, ...] = ("open", "open", "open", "pause", "drain", "close", "maintenance")
_chance = st.booleans()


class LinesMachine(RuleBasedStateMachine):
    """Subclasses give the store and the beginning."""

    beginning: dict[str, Any]

    def make_store(self) -> Store:
        raise NotImplementedError

    @initialize(arrivals=st.integers(0, 5), has_opened=st.sampled_from((True, True, False)), has_missed=_chance)
    def begins(self, arrivals: int, has_opened: bool, has_missed: bool) -> None:
        """People are in line already; the queue has opened if it has a schedule; the first to be called did not come."""
        settings = dict(self.beginning)
        self.is_group = settings.pop("is_group", False)
        self.store = self.make_store()
        self.store.command("FLUSHALL")
        self.line = Line(self.store, **TIMERS, **settings)
        if self.is_group:
            self.store.command("HSET", "st:{q}:state", "is_group", "1")
        queue = self.line.queue
        burst = max(1, queue.burst or (queue.admit_per_minute or 0) // 6)
        visit_max_ms = queue.visit_max_s * 1000 if queue.visit_max_s else None
        grace_ms = queue.presence_grace_s * 1000
        self.account = Account(
            queue.admit_per_minute, burst, queue.max_active, queue.inventory, queue.late_claim, grace_ms, visit_max_ms
        )
        self.tickets: dict[str, Ticket] = {}
        self.newcomers = 0
        self.was = self.see()
        for number in range(4 * arrivals):
            self.join(number % self.lines, False, False)
        if has_opened:
            self.time_passes(OPENS_AFTER_S + 5, 5)
            for visitor in list(self.tickets):
                self.touch(visitor, wants_in=False)
        if has_missed:
            self.time_passes(OPENS_AFTER_S + 40, 10)

    @property
    def lines(self) -> int:
        """How many lines the queue has."""
        return max(1, len(self.line.queue.lanes))

    # --- seeing

    def see(self) -> Seen:
        state, lines = self.line.state(), range(self.lines)

        def scores(part: str) -> dict[tuple[int, int], int]:
            return {read_member(member): int(score) for member, score in self.line.scores(part).items()}

        def of_lines(name: str) -> tuple[int, ...]:
            return tuple(int(state.get(name + (str(line) if line else ""), "0")) for line in lines)

        clock = int(state["clock"])
        return Seen(
            clock, clock - int(state["lease_behind"]), state["epoch"], state["status"], of_lines("cursor"), of_lines("held"),
            int(state["sold"]), frozenset(scores("ready")), scores("seen"), scores("called"), scores("active"),
            tuple(sorted(int(score) for score in self.line.scores("claims").values())),
        )  # fmt: skip

    def done(self, name: str, ticket: Ticket | None = None, answer: Answer | None = None) -> None:
        """Looks at the queue after a step."""
        now, place = self.see(), None
        if ticket and ticket.position:
            place = (ticket.line, self._drawn(ticket) if ticket.is_arrival else ticket.position)
        if now.epoch == self.was.epoch:
            self.account.step(self.was, now, Step(name, place, answer.verdict if answer else ""))
        else:
            self.account.begun()
        assert self.store.command("EXISTS", "st:{q}:events") == 0, "events that nobody asked for"
        self.was = now

    def _drawn(self, ticket: Ticket) -> int:
        """What a number of arrival is worth once the order is drawn."""
        state = self.line.state()
        count = int(state["drawn" + (str(ticket.line) if ticket.line else "")])
        if not state["draw_key"] or ticket.position > count:
            return ticket.position
        return draw.place(state["draw_key"], ticket.line, ticket.position, count)

    # --- visitors

    def heard(self, visitor: str, answer: Answer, before: Ticket | None) -> None:
        if answer.verdict in ("waiting", "called", "inside"):
            ticket = self.line.ticket(visitor, answer)
            self.account.placed(ticket.epoch, visitor, (ticket.line, ticket.position), is_arrival=ticket.is_arrival)
            if before and before.is_arrival and not ticket.is_arrival and before.epoch == ticket.epoch:
                assert ticket.position == self._drawn(before), "not the place that was drawn"
            self.tickets[visitor] = ticket
        elif answer.verdict in ("ended", "lapsed", "epoch"):
            self.tickets.pop(visitor, None)

    def join(self, line: int, wants_in: bool, is_doubled: bool) -> None:
        self.newcomers += 1
        visitor, before = f"n{self.newcomers}", self.was.status
        for _ in range(1 + is_doubled):
            answer = self.line.join(visitor, line=line, wants_in=wants_in)
            self.heard(visitor, answer, None)
            self.done("join", self.tickets.get(visitor), answer)
            if before == self.was.status and before in TAKES_NOBODY:
                assert answer.details == (before,), "a place in a queue that takes nobody"

    def touch(self, visitor: str, wants_in: bool, is_doubled: bool = False) -> None:
        for _ in range(1 + is_doubled):
            ticket = self.tickets.get(visitor)
            if ticket is None:
                return
            answer = self.line.touch(ticket, wants_in=wants_in)
            self.heard(visitor, answer, ticket)
            self.done("touch", ticket, answer)

    @rule(count=st.integers(1, 12), line=st.integers(0, 2), wants_in=_chance, is_doubled=_chance)
    def people_arrive(self, count: int, line: int, wants_in: bool, is_doubled: bool) -> None:
        for number in range(count):
            self.join((line + number // 3) % self.lines, wants_in, is_doubled)

    @rule(kind=st.sampled_from(("touch", "claim", "left", "completed", "revoked", "away", "renew", "start", "extend")),
          index=st.integers(0, 60), is_inside=_chance, is_doubled=_chance)  # fmt: skip
    def one_visitor(self, kind: str, index: int, is_inside: bool, is_doubled: bool) -> None:
        is_inside = is_inside or kind in ("renew", "start", "extend")
        chosen = [visitor for visitor, ticket in self.tickets.items() if bool(ticket.expires_ms) == is_inside]
        if not chosen:
            return
        visitor = chosen[index % len(chosen)]
        ticket = self.tickets[visitor]
        if kind in ("touch", "claim"):
            self.touch(visitor, kind == "claim", is_doubled)
        elif kind in ("start", "extend"):
            answer = self.line.checkout(ticket, kind)  # type: ignore[arg-type]
            self.done(kind, ticket, answer)
            if kind == "extend" and answer.verdict == "checkout" and is_doubled:
                assert self.line.checkout(ticket, "extend").details == ("extended",), "a payment that is extended twice"
                self.done(kind, ticket)
        elif kind == "renew":
            self.renew(visitor)
        else:
            self.end(visitor, kind, is_doubled)  # type: ignore[arg-type]

    def renew(self, visitor: str) -> None:
        ticket = self.tickets[visitor]
        answer = self.line.renew(ticket)
        self.heard(visitor, answer, ticket)
        self.done("renew", ticket, answer)

    def end(self, visitor: str, reason: EndReason, is_doubled: bool) -> None:
        ticket = self.tickets[visitor]
        first = self.line.end(ticket, reason)
        self.done(reason, ticket, first)
        if is_doubled:
            again = self.line.end(ticket, reason)
            assert again.verdict in ("already", "epoch", "away") or first.verdict in ("conflict", "late"), "ended twice"
            self.done(reason, ticket, again)
        if reason != "away" and first.verdict != "conflict":
            self.tickets.pop(visitor)

    @rule(rounds=st.integers(1, 6), every=st.sampled_from((1, 1, 2)), buys=_chance)
    def life_goes_on(self, rounds: int, every: int, buys: bool) -> None:
        """Those near the head ask and come in; some inside buy, leave or go on."""
        for number in range(rounds):
            self.line.wait(5)
            self.look()
            near = sorted(self.tickets, key=lambda visitor: self.tickets[visitor].position)
            for visitor in near[: 20 * every : every]:
                if not self.tickets[visitor].expires_ms:
                    self.touch(visitor, wants_in=True)
                elif (self.tickets[visitor].position + number) % 4 == 0:
                    self.end(visitor, "completed" if buys else "left", False)
                elif number % 3 == 0:
                    self.renew(visitor)

    # --- operators, edges and time

    @rule(action=st.sampled_from(ACTIONS), is_reset=st.sampled_from((False, False, False, False, True)), count=st.integers(1, 9))
    def an_operator(self, action: Action, is_reset: bool, count: int) -> None:
        self.line.control("reset" if is_reset else action, f"step-{self.line.now_ms}-{count}")
        self.done("control")
        self.join(count % self.lines, False, False)
        if count > 5:
            self.line.admit(count, f"batch-{self.line.now_ms}-{count}")
            self.done("admit")

    @rule(line=st.integers(0, 2), is_pause=_chance, count=st.integers(1, 4))
    def an_operator_on_one_queue(self, line: int, is_pause: bool, count: int) -> None:
        """Of a group; of another scope it is refused."""
        line %= self.lines
        queue = self.line.queue
        one = replace(queue, lanes=queue.lanes[line : line + 1], line=line, group="q", group_shares=queue.line_shares)
        answer = self.line.control_queue("pause_lines" if is_pause else "open_lines", one)
        assert answer.verdict == ("ok" if self.is_group else "refused")
        if self.is_group:
            (self.account.paused.add if is_pause else self.account.paused.discard)(line)
        self.done("control")
        self.join(line, True, False)
        if count == 4:
            self.line.admit(count, line=line)
            self.done("admit")

    @rule(seconds=st.sampled_from((0.1, 1, 5, 20, 45)), every=st.sampled_from((5, 10)))
    def time_passes(self, seconds: float, every: int) -> None:
        end_ms = self.line.now_ms + round(seconds * 1000)
        while self.line.now_ms < end_ms:
            self.line.now_ms = min(end_ms, self.line.now_ms + every * 1000)
            self.look()

    def look(self) -> None:
        """An edge takes the snapshot; the first that sees that the opening is due has the order drawn."""
        status = self.line.seen().status
        self.done("snapshot")
        if status == "prequeue" and self.line.now_ms >= START_MS + OPENS_AFTER_S * 1000:
            self.line.open_queue()
            self.done("open")

    def teardown(self) -> None:
        if hasattr(self, "store"):
            self.store.close()
