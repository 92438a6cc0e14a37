"""One visitor's step in one queue: what a pass, a place, a candidate's cookie or nothing at all leads to.

Used by the protected addresses (`wants_in`) and by the status endpoint alike, so that the two can never disagree.
"""

from __future__ import annotations

from collections.abc import Generator
from dataclasses import dataclass, replace

from edge.core import admission, commands, identity, standing
from edge.core.asking import View, ask, look, script_random
from edge.core.commands import Answer
from edge.core.cookies import PLACE_MAX_AGE_S, expire_cookie
from edge.core.errors import StoreAway, StoreBusy
from edge.core.identity import Visitor
from edge.core.messages import Batch, Context, Reply, Request
from edge.core.model import Queue
from edge.core.node import network_of
from edge.core.snapshot import Snapshot
from edge.core.standing import Standing
from edge.core.tokens import Pass, Place

AWAY_AFTER_MS = 5_000  # shorter troubles are a delay, not an absence
BUSY_RETRY_S = (3, 10)


@dataclass(frozen=True)
class Outcome:
    """Inside (`admission`), or a standing. `fresh`: admitted just now, without a place cookie to come back with."""

    why: str
    admission: Pass | None = None
    standing: Standing | None = None
    set_cookies: tuple[str, ...] = ()
    fresh: bool = False
    is_refused: bool = False  # 429: too many places from this network, or an overloaded store


Standings = Generator[Batch, Reply, Outcome]


class Step:
    """The step of one request; holds what every part of it needs."""

    def __init__(self, visitor: Visitor, request: Request, context: Context, *, wants_in: bool) -> None:
        self.visitor, self.request, self.context, self.wants_in = visitor, request, context, wants_in
        self.queue: Queue = visitor.queue
        self._random = script_random(request)
        self._dead = (expire_cookie(self.queue, request.scheme),) if visitor.dead else ()

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
            return Outcome("let in while the store was away", held)
        try:
            view = yield from look(self.queue, self.request, self.context)
            known = view.snapshot.epoch == held.epoch
            if known and held.position in view.snapshot.ended:
                return (yield from self._over("the pass was ended"))
            if view.away_ms or (known and view.now_ms < held.renew_at_ms):
                return Outcome("inside", held)
            answer = yield from ask(
                commands.renew(self.queue.scope, held.epoch, held.position, held.visitor, held.expires_ms, self._random),
                self.queue,
                self.request,
            )
        except (StoreAway, StoreBusy):
            return Outcome("inside; the store does not answer", held)
        if answer.verdict != "inside":
            return (yield from self._over("the pass is over"))
        return self._admitted(answer, held.visitor, "renewed", fresh=False)

    def _over(self, why: str) -> Standings:
        """A visit that has ended: at the door the visitor is a newcomer; the status says so once."""
        expire = (expire_cookie(self.queue, self.request.scheme),)
        if not self.wants_in:
            ended = Standing(self.queue, "ended", self.context.now_ms(self.request))
            return Outcome(why, standing=ended, set_cookies=expire)
        self.visitor, self._dead = Visitor(self.queue, self.visitor.jar, dead=True), expire
        return (yield from self._arriving())

    def _admitted(self, answer: Answer, visitor: str, why: str, *, fresh: bool) -> Outcome:
        held = identity.pass_from(answer, self.queue, visitor)
        cookies = (identity.pass_cookie(self.queue, self.request, self.context, held), *self._no_candidate())
        return Outcome(why, held, set_cookies=cookies, fresh=fresh)

    def _no_candidate(self) -> tuple[str, ...]:
        if self.visitor.candidate is None:
            return ()
        return (expire_cookie(self.queue, self.request.scheme, candidate=True),)

    # --- in line ----------------------------------------------------------------------------------------------------

    def _in_line(self, place: Place) -> Standings:
        view = yield from look(self.queue, self.request, self.context)
        if view.away_ms >= AWAY_AFTER_MS:
            raise StoreAway(view.away_ms)
        if view.snapshot.epoch != place.epoch:
            return (yield from self._rejoin(place, view))
        is_still = view.snapshot.status not in ("open", "recovering")
        if is_still or not admission.needs_touch(view.snapshot, place.position, place.touched_ms, view.now_ms):
            where = standing.in_line(self.queue, view.snapshot, place.position, view.now_ms)
            return Outcome("waiting", standing=where, set_cookies=self._reissued(place, view.now_ms))
        answer = yield from ask(
            commands.touch(self.queue.scope, place.epoch, place.position, place.visitor, self._random, wants_in=self.wants_in),
            self.queue,
            self.request,
        )
        if answer.verdict == "epoch":
            return (yield from self._rejoin(place, view))
        return (yield from self._placed(answer, place.visitor, view))

    def _reissued(self, place: Place, now_ms: int) -> tuple[str, ...]:
        if place.expires_ms - now_ms > PLACE_MAX_AGE_S * 500:
            return ()
        renewed = replace(place, expires_ms=now_ms + PLACE_MAX_AGE_S * 1000)
        return (identity.place_cookie_of(self.queue, self.request, self.context, renewed),)

    def _rejoin(self, place: Place, view: View) -> Standings:
        """The place is of another epoch: a deliberate reset gives a new one, lost state gives the order back."""
        call = commands.join(self.queue.scope, place.visitor, self._random, wants_in=self.wants_in, old_epoch=place.epoch,
                             old_position=place.position)  # fmt: skip
        answer = yield from ask(call, self.queue, self.request)
        return (yield from self._placed(answer, place.visitor, view))

    def _placed(self, answer: Answer, visitor: str, view: View | None, *, direct: bool = False) -> Standings:
        now_ms = answer.snapshot.clock_ms if answer.snapshot else self.context.now_ms(self.request)
        if answer.verdict == "inside":
            return self._admitted(answer, visitor, "admitted", fresh=direct)
        if answer.verdict == "ended":
            return (yield from self._over("the place is over"))
        if answer.verdict == "recovering":
            where = replace(standing.unavailable(self.queue, now_ms), poll_s=max(2, min(10, answer.number(0) // 1000)))
            return Outcome("the queue recovers its order", standing=where)
        if answer.verdict == "candidate" or answer.snapshot is None:
            return self._candidate("queueing; a cookie first", now_ms)
        snapshot, position = self._merged(answer.snapshot, view), answer.number(0)
        if answer.verdict == "called":
            where = standing.called(self.queue, snapshot, position, now_ms, answer.number(1), answer.number(2))
        else:
            where = standing.in_line(self.queue, snapshot, position, now_ms)
        cookie = identity.place_cookie(self.queue, self.request, self.context, visitor, snapshot.epoch, position, now_ms)
        return Outcome(answer.verdict, standing=where, set_cookies=(cookie, *self._no_candidate()))

    def _merged(self, short: Snapshot, view: View | None) -> Snapshot:
        """The full snapshot brought up to date by the short one, if both are of one epoch."""
        if view is None or view.snapshot.epoch != short.epoch:
            return short
        return replace(view.snapshot, clock_ms=short.clock_ms, status=short.status, length=short.length, cursor=short.cursor,
                       horizon=short.horizon)  # fmt: skip

    # --- arriving ---------------------------------------------------------------------------------------------------

    def _arriving(self) -> Standings:
        hopeful = self.visitor.candidate
        view: View | None = None
        if hopeful is None:
            view = yield from look(self.queue, self.request, self.context)
            if view.away_ms >= AWAY_AFTER_MS:
                raise StoreAway(view.away_ms)
            if not self.wants_in or view.snapshot.queueing == 2:
                return self._candidate("queueing; a cookie first", view.now_ms)
        now_ms, network = self.context.now_ms(self.request), network_of(self.request.client)
        limit = self.queue.places_per_network_per_minute
        if not self.context.node.may_place(self.queue.id, network, limit, now_ms):
            return replace(self._candidate("too many places from one network", now_ms, self._jitter(20, 60)), is_refused=True)
        visitor = hopeful.visitor if hopeful else identity.new_visitor(self.request)
        call = commands.join(self.queue.scope, visitor, self._random, direct=hopeful is None, wants_in=self.wants_in)
        answer = yield from ask(call, self.queue, self.request)
        if answer.verdict in ("waiting", "called", "inside"):
            self.context.node.count_place(self.queue.id, network, now_ms)
        return (yield from self._placed(answer, visitor, view, direct=hopeful is None))

    def _candidate(self, why: str, now_ms: int, poll_s: int = standing.CANDIDATE_POLL_S) -> Outcome:
        hopeful = self.visitor.candidate
        cookies = () if hopeful else (identity.candidate_cookie(self.queue, self.request, self.context),)
        where = standing.candidate(self.queue, now_ms, poll_s=poll_s)
        return Outcome(why, standing=where, set_cookies=(*self._dead, *cookies))

    # --- trouble ----------------------------------------------------------------------------------------------------

    def _jitter(self, low: int, high: int) -> int:
        return low + int(self.request.random[-6:], 16) % (high - low + 1)

    def _without_store(self, away_ms: int) -> Outcome:
        if away_ms < AWAY_AFTER_MS:
            return self._overloaded(f"no connection to the store for {away_ms} ms")
        now_ms, per_minute = self.context.now_ms(self.request), self.queue.store_error_admit_per_minute
        may_admit = self.wants_in and self.queue.on_store_error == "admit" and per_minute is not None
        if may_admit and self.context.node.take_store_error_admission(self.queue.id, per_minute or 0, now_ms):
            held = identity.store_error_pass(self.queue, self.request, self.context, self.visitor.place)
            cookie = identity.pass_cookie(self.queue, self.request, self.context, held)
            return Outcome("the store is away; let in", held, set_cookies=(cookie,))
        position = self.visitor.place.position if self.visitor.place else None
        return Outcome("the store is away", standing=standing.unavailable(self.queue, now_ms, position))

    def _overloaded(self, why: str) -> Outcome:
        """Overload is not absence: whoever has a place keeps it, others stay candidates and try again at different times."""
        now_ms, retry_s, place = self.context.now_ms(self.request), self._jitter(*BUSY_RETRY_S), self.visitor.place
        if place is None:
            return replace(self._candidate(why, now_ms, retry_s), is_refused=True)
        where = Standing(self.queue, "waiting", now_ms, place.epoch, place.position, poll_s=retry_s)
        return Outcome(why, standing=where)
