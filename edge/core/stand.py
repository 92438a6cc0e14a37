"""One visitor's step in one queue: what a pass, a place, a candidate's cookie or nothing at all leads to.

Used by the protected addresses (`wants_in`) and by the status endpoint alike, so that the two can never disagree.
"""

from __future__ import annotations

from collections.abc import Generator
from dataclasses import replace

from edge.core import commands, identity, standing
from edge.core.admission import beat_ms
from edge.core.asking import View, ask, look
from edge.core.calls import Answer
from edge.core.cookies import PLACE_MAX_AGE_S, expire_cookie
from edge.core.errors import StoreAway, StoreBusy
from edge.core.identity import Visitor
from edge.core.lines import completed, dressed, gives_no_places, numbered, seated
from edge.core.messages import Batch, Reply
from edge.core.node import network_of
from edge.core.outcome import Outcome, is_ended, is_half_spent, needs_nothing, waits_on
from edge.core.saying import AWAY_AFTER_MS, CAPPED_RETRY_S, Saying
from edge.core.snapshot import Snapshot
from edge.core.standing import Standing
from edge.core.tokens import Pass, Place
from edge.core.vouching import is_keyed

Standings = Generator[Batch, Reply, Outcome]


class Step(Saying):
    """The step of one request."""

    def take(self) -> Standings:
        """The outcome; trouble with Redis is one too, never an error."""
        try:
            if self.visitor.admission is not None:
                return (yield from self._inside(self.visitor.admission))
            if self.visitor.place is not None:
                return (yield from self._in_line(self.visitor.place))
            return (yield from self._arriving())
        except StoreAway as away:
            return self._without_store(away.away_ms)
        except StoreBusy as busy:
            return self._overloaded(str(busy))

    # --- inside -----------------------------------------------------------------------------------------------------

    def _inside(self, held: Pass) -> Standings:
        if held.marked:
            return Outcome("pass from when the store was away", held)
        try:
            view = yield from look(self.queue, self.request, self.context, self._due_pass(held))
            is_over = is_ended(held, view.snapshot) or held.expires_ms <= view.now_ms
            if not is_over:
                if view.away_ms or needs_nothing(held, view.snapshot, view.now_ms):
                    return Outcome("pass", held, set_cookies=self._behind(held))
                if self._is_everywhere(held):
                    return (yield from self._revoked(held))
                answer = _renewed(view.told or (yield from self._renew(held)))
                self.context.node.seen_from.begin(held)
        except (StoreAway, StoreBusy):
            if held.expires_ms <= self._now_ms():
                raise
            return Outcome("pass; the store does not answer", held)
        if is_over or answer.verdict == "ended":
            return (yield from self._over("the pass is over"))
        return self._admitted(answer, held.visitor, "pass, renewed", fresh=False)

    def _due_pass(self, held: Pass) -> Pass | None:
        """The pass, if it is due for renewal by this node's clock and nothing else can stand against that."""
        return held if self.queue.max_networks is None and held.renew_at_ms <= self.request.now_ms < held.expires_ms else None

    def _is_everywhere(self, held: Pass) -> bool:
        """Whether a pass that is to be renewed was used in more networks than the queue allows."""
        limit = self.queue.max_networks
        return limit is not None and self.context.node.seen_from.note(held, network_of(self.request.client)) > limit

    def _revoked(self, held: Pass) -> Standings:
        call = commands.end(self.queue.scope, held.epoch, held.position, held.visitor, "revoked", self._random, line=held.line)
        yield from ask(call, self.queue, self.request)
        return (yield from self._over("the pass was used in too many networks"))

    def _behind(self, held: Pass) -> tuple[str, ...]:
        """The cookie of a pass that has not reached the visitor yet; else only what is dead goes."""
        if not self.visitor.is_behind:
            return self._cookies()
        return self._cookies(identity.pass_cookie(self.queue, self.request, self.context, held))

    def _renew(self, held: Pass) -> Generator[Batch, Reply, Answer]:
        return (yield from ask(commands.renew_pass(held, self._random), self.queue, self.request))

    def _over(self, why: str) -> Standings:
        """A visit that has ended: at the door the visitor is a newcomer; the status says so once."""
        old, has_candidate = self.visitor, self.visitor.dead_candidate or self.visitor.candidate is not None
        if old.admission is not None:
            self.context.granted.forget(old.admission)
            if old.place is not None:
                # A place cookie came along: after a reset it is worth a place in the new line.
                self.visitor = Visitor(self.queue, old.jar, place=old.place, dead_candidate=has_candidate)
                return (yield from self._in_line(old.place))
        if not self.wants_in:
            ended = Standing(self.queue, "ended", self._now_ms())
            return Outcome(why, standing=ended, set_cookies=self._cookies(expire_cookie(self.queue, self.request.scheme)))
        self.visitor = Visitor(self.queue, old.jar, dead=True, dead_candidate=has_candidate)
        return (yield from self._arriving())

    def _admitted(self, answer: Answer, visitor: str, why: str, *, fresh: bool) -> Outcome:
        held = identity.pass_from(answer, self.queue, visitor)
        self.context.granted.remember(held)
        cookies = self._cookies(identity.pass_cookie(self.queue, self.request, self.context, held))
        return Outcome(why, held, set_cookies=cookies, fresh=fresh)

    # --- in line ----------------------------------------------------------------------------------------------------

    def _in_line(self, place: Place) -> Standings:
        view = yield from look(self.queue, self.request, self.context, self._due_place(place), wants_in=self.wants_in)
        if view.away_ms >= AWAY_AFTER_MS:
            raise StoreAway(view.away_ms)
        if place.expires_ms <= view.now_ms:
            return (yield from self._over("the place has run out"))
        if view.snapshot.epoch != place.epoch:
            return (yield from self._rejoin(place))
        seat = seated(place, view.snapshot)
        where = waits_on(seat, self.queue, view.snapshot, view.now_ms)
        if where is not None:
            cookies = self._reissued(seat, view.now_ms, has_moved=seat is not place)
            return Outcome(f"place {seat.position}", standing=where, set_cookies=cookies)
        answer = view.told or (yield from self._touch(seat))
        if answer.verdict == "epoch":
            return (yield from self._rejoin(place))
        self._seat = seat
        return (yield from self._placed(answer, place.visitor))

    def _due_place(self, place: Place) -> Place | None:
        """The place, if it is likely to be asked about: its turn may have come, or this node thinks a sign of life due."""
        is_due = self.wants_in or self.request.now_ms - place.touched_ms >= beat_ms(self.queue.presence_grace_s)
        return place if is_due and not place.arrival else None

    def _touch(self, seat: Place) -> Generator[Batch, Reply, Answer]:
        call = commands.touch(self.queue.scope, seat.epoch, seat.position, seat.visitor, self._random, line=seat.line,
                              wants_in=self.wants_in)  # fmt: skip
        return (yield from ask(call, self.queue, self.request))

    def _reissued(self, place: Place, now_ms: int, *, has_moved: bool) -> tuple[str, ...]:
        if not has_moved and not is_half_spent(place, now_ms):
            return self._cookies()
        renewed = replace(place, expires_ms=now_ms + PLACE_MAX_AGE_S * 1000)
        return self._cookies(identity.place_cookie_of(self.queue, self.request, self.context, renewed))

    def _rejoin(self, place: Place) -> Standings:
        """The place is of another epoch: a deliberate reset gives a new one, lost state gives the order back."""
        call = commands.join(self.queue.scope, place.visitor, self._random, wants_in=self.wants_in, old_epoch=place.epoch,
                             old_position=place.position, old_line=place.line, old_arrival=place.arrival,
                             line=place.line)  # fmt: skip
        answer = yield from ask(call, self.queue, self.request)
        return (yield from self._placed(answer, place.visitor))

    def _placed(self, answer: Answer, visitor: str, *, direct: bool = False) -> Standings:
        """What a join or a sign of life led to."""
        if answer.verdict == "ended" and not direct:
            return (yield from self._over("the visit of this place is over"))
        if answer.verdict == "lapsed":
            return (yield from self._lapsed(answer))
        snapshot = answer.snapshot
        if snapshot is None or answer.verdict not in ("inside", "waiting", "called", "recovering", "candidate", "refused"):
            raise StoreBusy(f"the store answered {answer.verdict}")
        visitor = answer.visitor or visitor
        if answer.verdict == "refused" and answer.details[0] == "had_visit":
            return self._no_place("had_visit", "this key has had its visit")
        if answer.verdict == "refused":
            return self._turned_away(self._known(snapshot, self.queue.line), answer.details[0])
        if answer.verdict == "inside":
            return (yield from self._let_in(answer, visitor, snapshot, direct=direct))
        if answer.verdict == "recovering":
            poll_s = max(2, min(10, answer.number(0) // 1000))
            where = replace(standing.unavailable(self.queue, snapshot.clock_ms), poll_s=poll_s)
            return Outcome("the queue recovers its order", standing=where, set_cookies=self._cookies())
        if answer.verdict == "candidate":
            self.context.node.hold(self.queue.scope, snapshot.clock_ms + self.queue.candidate_hold_s * 500)
            return self._candidate("queueing; a cookie first", snapshot.clock_ms)
        return self._waiting(answer, visitor, snapshot)

    def _let_in(self, answer: Answer, visitor: str, snapshot: Snapshot, *, direct: bool) -> Standings:
        """Someone is inside: by a claim of now, or by an earlier one whose pass never arrived, which then needs its renewals."""
        expires_ms, half_spent_ms = answer.number(1), (self.queue.idle_s - self.queue.renew_every_s) * 1000
        if expires_ms - snapshot.clock_ms < half_spent_ms:
            held = Pass(self.queue.scope, snapshot.epoch, visitor, answer.number(0), 0, expires_ms, line=answer.line)
            answer = _renewed((yield from self._renew(held)))
            if answer.verdict == "ended":
                return (yield from self._over("the visit of this place is over"))
        return self._admitted(answer, visitor, "admitted", fresh=direct)

    def _known(self, short: Snapshot, line: int) -> Snapshot:
        """An answer carries the short snapshot: what this node saw last of the rest completes it."""
        last = self.context.snapshots.last(self.queue.scope, short.epoch)
        return completed(last, short, line) if last is not None else short

    def _waiting(self, answer: Answer, visitor: str, short: Snapshot) -> Outcome:
        snapshot, position, line, now_ms = self._known(short, answer.line), answer.number(0), answer.line, short.clock_ms
        number = self._number_of(position, line, short.epoch)
        if answer.is_arrival:
            where = numbered(self.queue, snapshot, position, line, now_ms)
        elif answer.verdict == "called":
            where = standing.called(self.queue, snapshot, position, now_ms, answer.number(1), answer.number(2),
                                    status=short.status)  # fmt: skip
            where = dressed(where, snapshot, line, number or None)
        else:
            where = dressed(standing.in_line(self.queue, snapshot, position, now_ms), snapshot, line, number or None)
        cookie = identity.place_cookie(self.queue, self.request, self.context, visitor, short.epoch, position, now_ms, line=line,
                                       arrival=answer.is_arrival, number=number)  # fmt: skip
        return Outcome(f"{answer.verdict} at {position}", standing=where, set_cookies=self._cookies(cookie))

    def _number_of(self, position: int, line: int, epoch: str) -> int:
        """The number of arrival behind the place that the answer is about; 0 for any other than the one that asked."""
        seat = self._seat
        is_same = seat is not None and (seat.position, seat.line, seat.epoch) == (position, line, epoch)
        return seat.number if seat is not None and is_same else 0

    def _lapsed(self, answer: Answer) -> Standings:
        """The turn has gone by. At the door a new place at the end is given, if the queue says so; the status says it first."""
        queue, place, is_final = self.queue, self.visitor.place, answer.details[1:] == ("refused",)
        if self.wants_in and not is_final and place is not None:
            visitor = place.visitor if is_keyed(place.visitor) else identity.new_visitor(self.request)
            call = commands.join(queue.scope, visitor, self._random, wants_in=True, line=place.line)
            again = yield from ask(call, queue, self.request, "join again")
            if again.verdict != "lapsed":
                return (yield from self._placed(again, visitor))
        where = Standing(queue, "lapsed", self._now_ms(), poll_s=queue.poll_s)
        gone = expire_cookie(queue, self.request.scheme) if is_final else ""
        return Outcome("the turn was missed", standing=where, set_cookies=self._cookies(gone))

    # --- arriving ---------------------------------------------------------------------------------------------------

    def _arriving(self) -> Standings:
        hopeful, node, queue, key = self.visitor.candidate, self.context.node, self.queue, self._key()
        if queue.visitor_key_required and not key:
            return self._sign_in()
        ticket = f"{self.request.random}{'c' if hopeful else ''}"
        # A newcomer's step that has begun to join goes on, whatever this node has learnt of the queue meanwhile: the join may
        # have been an admission.
        has_to_work = hopeful is not None and self._has_to_work(hopeful)
        if (hopeful is None or has_to_work) and not node.has_ticket(ticket):
            view = yield from look(queue, self.request, self.context)
            if view.away_ms >= AWAY_AFTER_MS:
                raise StoreAway(view.away_ms)
            if self.wants_in and hopeful is None and queue.start_queueing_above is not None:
                node.visit(queue.scope, self.request.random, self.request.now_ms)
            if gives_no_places(view.snapshot):
                return self._turned_away(view.snapshot, view.snapshot.status)
            if has_to_work:
                return self._candidate("the work is not done", view.now_ms, snapshot=view.snapshot)
            if not self.wants_in or self._has_to_queue(view):
                return self._candidate("queueing; a cookie first", view.now_ms, snapshot=view.snapshot)
        now_ms, network = self._now_ms(), network_of(self.request.client)
        if not node.take_place(queue.id, network, queue.places_per_network_per_minute, now_ms, ticket):
            refused = self._candidate("too many places from one network", now_ms, self._jitter(*CAPPED_RETRY_S))
            return replace(refused, is_refused=True)
        visitor = key or (hopeful.visitor if hopeful else identity.new_visitor(self.request))
        line, invite = self._line(hopeful)
        call = commands.join(queue.scope, visitor, self._random, direct=hopeful is None, wants_in=self.wants_in, line=line,
                             invite=invite, line_without_invite=queue.line, once=queue.one_visit_per_key)  # fmt: skip
        try:
            answer = yield from ask(call, queue, self.request, "join" if hopeful else "join a newcomer")
        except (StoreAway, StoreBusy):
            node.return_place(queue.id, network, now_ms, ticket)
            raise
        if answer.verdict not in ("waiting", "called", "inside"):
            node.return_place(queue.id, network, now_ms, ticket)
        return (yield from self._placed(answer, visitor, direct=hopeful is None))

    def _has_to_queue(self, view: View) -> bool:
        queueing = view.snapshot.queueing
        return queueing == 2 or (queueing == 1 and self.context.node.is_holding(self.queue.scope, view.now_ms))


def _renewed(answer: Answer) -> Answer:
    """The answer to a renewal. Raises StoreBusy when it is none."""
    if answer.verdict not in ("inside", "ended"):
        raise StoreBusy(f"the store answered {answer.verdict}")
    return answer
