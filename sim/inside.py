"""What one visitor does inside: requests, the payment and its timer, the end of the visit, and a copy of the pass afterwards."""

from __future__ import annotations

import random
from dataclasses import replace
from typing import Literal

from edge.core import commands
from edge.core.calls import Answer, Call
from edge.core.outcome import is_ended, needs_nothing
from edge.core.tokens import Pass
from sim.people import NEVER_MS, Payment, Person, State
from sim.sale import Sale
from sim.stage import AFTER, INSIDE, CallAt, Stage, finish, random_of

AGAIN_MS = 4_000  # a site repeats what was not answered
_LATE_IN_TIME = (0.8, 0.95)  # the part of the time to pay after which more is asked for
_IN_TIME = (0.1, 0.9)


class Inside:
    """The steps of those inside."""

    def __init__(self, sale: Sale, stage: Stage, chance: random.Random) -> None:
        self._queue, self._stage, self._traits, self._random = sale.queue, stage, sale.people, chance
        self._scope = sale.queue.scope

    def came_in(self, person: Person, answer: Answer, at_ms: int) -> None:
        """A claim: the visit begins."""
        self._stage.tally.presence.change(-1, at_ms)
        if person.called_ms < 0:
            person.called_ms = at_ms
        person.state, person.admitted_ms = State.INSIDE, at_ms
        person.held = self._pass_of(person, answer, 1)
        lasts_ms = self._stage.crowd.visit_ms(person)
        person.visit_ends_ms = at_ms + lasts_ms
        person.pays_from_ms = at_ms + lasts_ms // 2 if person.payment else NEVER_MS
        self._next_request(person, at_ms)

    def _pass_of(self, person: Person, answer: Answer, expires_at: int) -> Pass:
        """The pass by an answer, whose detail `expires_at` is its expiry and the next one the moment of its renewal."""
        assert answer.snapshot is not None
        expires_ms, renew_at_ms = answer.number(expires_at), answer.number(expires_at + 1)
        position, line = (answer.number(0), answer.line) if answer.verdict == "inside" else (person.position, person.line)
        return Pass(self._scope, answer.snapshot.epoch, person.name, position, renew_at_ms, expires_ms, line=line)

    def _next_request(self, person: Person, at_ms: int) -> None:
        every_ms = round(self._traits.request_every_s * 1000 * self._random.uniform(0.5, 1.5))
        ends_ms, began_ms = min(person.visit_ends_ms, person.pays_from_ms), person.admitted_ms
        is_silent = person.slow and not person.payment and at_ms + every_ms > began_ms + (ends_ms - began_ms) // 2
        self._stage.at(max(at_ms + 300, ends_ms if is_silent else min(ends_ms, at_ms + every_ms)), INSIDE, person)

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
        if snapshot is not None and (held.expires_ms <= now_ms or 0 < person.checkout_ms <= now_ms):
            finish(self._stage, person, self._how_it_ended(person, now_ms, at_ms), at_ms, at_ms)
        elif at_ms >= person.pays_from_ms:
            self._pay(person, at_ms)
        elif snapshot is None or node.away_ms(at_ms) or needs_nothing(held, snapshot, now_ms):
            self._next_request(person, at_ms)
        else:
            self._stage.ask(_renewal(held, random_of(person)), person, "renew", self._renewed, at_ms)

    def _how_it_ended(self, person: Person, now_ms: int, at_ms: int) -> State:
        if 0 < person.checkout_ms <= now_ms:
            return State.UNPAID
        longest_s = self._queue.visit_max_s
        # Clocks of nodes are off by a little.
        if longest_s is not None and at_ms - person.admitted_ms >= (longest_s - 2) * 1000:
            return State.TOO_LONG
        return State.EXPIRED

    def _renewed(self, person: Person, answer: Answer | None, at_ms: int, tab: int) -> None:
        if person.state != State.INSIDE:
            return
        if answer is None:
            self._next_request(person, at_ms)  # the pass is good until it runs out; the next request tries again
        elif answer.verdict == "inside":
            person.held = self._pass_of(person, answer, 1)
            person.epoch, person.position = person.held.epoch, person.held.position
            self._next_request(person, at_ms)
        else:
            now_ms = answer.snapshot.clock_ms if answer.snapshot else 0
            finish(self._stage, person, self._how_it_ended(person, now_ms, at_ms), at_ms, at_ms)

    # --- the payment -----------------------------------------------------------------------------------------------------

    def _pay(self, person: Person, at_ms: int) -> None:
        """The site says that the payment begins, or asks for its time once more."""
        held = person.held
        step: Literal["start", "extend"] = "extend" if person.checkout_ms else "start"
        assert held is not None

        def call(now_ms: int) -> Call:
            return commands.checkout(self._scope, held.epoch, held.position, person.name, step, random_of(person),
                                     line=held.line, now_ms=now_ms)  # fmt: skip

        self._stage.ask(call, person, "checkout", self._timed, at_ms)

    def _timed(self, person: Person, answer: Answer | None, at_ms: int, tab: int) -> None:
        if person.state != State.INSIDE:
            return
        if answer is None:
            person.pays_from_ms = at_ms + AGAIN_MS
        elif answer.verdict == "checkout":
            self._has_time(person, answer, at_ms)
        elif answer.verdict == "refused" and person.payment in (Payment.EXTENDS, Payment.EXTENDS_AND_RUNS_OUT):
            assert answer.snapshot is not None
            person.payment = Payment(person.payment - 1)
            self._settle(person, person.checkout_ms - answer.snapshot.clock_ms, at_ms)
        else:
            # The visit is of a generation that was lost, or over: the next request shows it.
            person.payment, person.pays_from_ms = Payment.NONE, NEVER_MS
        self._next_request(person, at_ms)

    def _has_time(self, person: Person, answer: Answer, at_ms: int) -> None:
        assert answer.snapshot is not None
        is_first, person.checkout_ms = not person.checkout_ms, answer.number(0)
        person.held = self._pass_of(person, answer, 1)
        left_ms = person.checkout_ms - answer.snapshot.clock_ms
        if person.payment in (Payment.IN_TIME, Payment.RUNS_OUT):
            self._settle(person, left_ms, at_ms)
            return
        # More time is asked for when most of it is gone; and once more, in vain, as soon as it was given.
        person.visit_ends_ms = NEVER_MS
        person.pays_from_ms = at_ms + (round(left_ms * self._random.uniform(*_LATE_IN_TIME)) if is_first else 1_000)

    def _settle(self, person: Person, left_ms: int, at_ms: int) -> None:
        """When the payment is done: within the time that is left, or never."""
        person.pays_from_ms = NEVER_MS
        is_done = person.payment == Payment.IN_TIME
        person.visit_ends_ms = at_ms + round(left_ms * self._random.uniform(*_IN_TIME)) if is_done else NEVER_MS

    # --- the end ---------------------------------------------------------------------------------------------------------

    def _goes_out(self, person: Person, at_ms: int) -> None:
        if person.vanishes:
            finish(self._stage, person, State.VANISHED, at_ms, at_ms)
        else:
            self.end(person, "completed" if person.buys else "left", at_ms)

    def end(self, person: Person, reason: commands.EndReason, at_ms: int) -> None:
        """Ends the visit, or gives up the place."""
        held = person.held
        epoch, position, line = (held or person).epoch, (held or person).position, (held or person).line

        def call(now_ms: int) -> Call:
            return commands.end(self._scope, epoch, position, person.name, reason, random_of(person), line=line, now_ms=now_ms)

        self._stage.ask(call, person, "end", self._out, at_ms, 1 if reason == "completed" else 0)

    def _out(self, person: Person, answer: Answer | None, at_ms: int, tab: int) -> None:
        if person.state != State.INSIDE:
            return
        if answer is None:
            # The edge, or the site, repeats it: the step is safe to repeat.
            self._stage.tally.counts["ends repeated"] += 1
            self._stage.at(at_ms + AGAIN_MS, INSIDE, person)
        elif answer.verdict == "conflict":
            finish(self._stage, person, State.CONFLICT, at_ms, at_ms)
        elif answer.verdict == "epoch":
            finish(self._stage, person, State.EXPIRED, at_ms, at_ms)
        else:
            copy = person.held
            finish(self._stage, person, State.BOUGHT if person.buys else State.LEFT, at_ms, at_ms)
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
        self._stage.ask(_renewal(held, random_of(person)), person, "renew", self._shut, at_ms)

    def _shut(self, person: Person, answer: Answer | None, at_ms: int, tab: int) -> None:
        """The account looks at the answer; the visitor is gone."""


def _renewal(held: Pass, random_hex: str) -> CallAt:
    def call(now_ms: int) -> Call:
        return commands.renew_pass(held, random_hex, now_ms=now_ms)

    return call
