"""What a step says without asking Redis: a candidate's cookie, the page of a queue that gives no places, and trouble.

The base of `edge.core.stand.Step`, which does the asking.
"""

from __future__ import annotations

from dataclasses import replace

from edge.core import identity, standing
from edge.core.asking import script_random
from edge.core.cookies import expire_cookie
from edge.core.identity import Visitor
from edge.core.lanes import has_rules, vouched_line
from edge.core.lines import dressed, numbered, seated, seen_from, turned_away
from edge.core.messages import Context, Request
from edge.core.model import Queue
from edge.core.outcome import Outcome
from edge.core.snapshot import Snapshot
from edge.core.standing import Standing
from edge.core.tokens import Candidate, Place
from edge.core.vouching import keyed_visitor, secret_name
from edge.core.work import HEADER as WORK_HEADER
from edge.core.work import challenge_for, is_solved

AWAY_AFTER_MS = 5_000  # shorter troubles are a delay, not an absence
BUSY_RETRY_S = (3, 10)
NO_PLACE_POLL_S = 10  # who signs in in another window is noticed soon
WORK_POLL_S = 10  # who has solved the challenge asks at once
CAPPED_RETRY_S = (20, 60)  # the cap is one of places per minute


class Saying:
    """One request of one visitor; holds what every part of its step needs."""

    def __init__(self, visitor: Visitor, request: Request, context: Context, *, wants_in: bool) -> None:
        self.visitor, self.request, self.context, self.wants_in = visitor, request, context, wants_in
        self.queue: Queue = visitor.queue
        self._random = script_random(request)
        self._seat: Place | None = None  # the one that the store was asked about

    def _cookies(self, main: str = "", candidate: str = "") -> tuple[str, ...]:
        """What to set, and what to take away: the dead, and a candidate's cookie that has served."""
        queue, scheme, visitor = self.queue, self.request.scheme, self.visitor
        has_served = visitor.candidate is not None and bool(main)
        if not main and visitor.dead:
            main = expire_cookie(queue, scheme)
        if not candidate and (visitor.dead_candidate or has_served):
            candidate = expire_cookie(queue, scheme, candidate=True)
        return tuple(cookie for cookie in (main, candidate) if cookie)

    def _line(self, hopeful: Candidate | None) -> tuple[int, str]:
        """The line to join, and the invitation that leads there: by the site's word now, or as the candidate's cookie says."""
        queue = self.queue
        if has_rules(queue):
            secret = self.context.secret(secret_name(queue)) or ""
            vouched = vouched_line(queue, self.request, self.visitor.jar.others, secret)
            if vouched is not None:
                return vouched, ""
        return (hopeful.line, hopeful.invite) if hopeful is not None else (queue.line, "")

    def _key(self) -> str:
        """The visitor of the key that the site vouches for now, or empty."""
        queue = self.queue
        if queue.visitor_key is None:
            return ""
        secret = self.context.secret(secret_name(queue)) or ""
        return keyed_visitor(queue, self.request, self.visitor.jar.others, secret, self.context.ring)

    def _has_to_work(self, hopeful: Candidate) -> bool:
        """Whether the queue asks for work that this candidate has not sent along."""
        challenge = challenge_for(self.queue, hopeful.visitor)
        return challenge is not None and not is_solved(challenge, self.request.header(WORK_HEADER))

    def _sign_in(self) -> Outcome:
        """Asks to sign in. The log tells a visitor without a word from a gate that could not read any."""
        has_secret = bool(self.context.secret(secret_name(self.queue)))
        return self._no_place("sign_in", "nobody vouches for the visitor" if has_secret else
                              f"nobody can be vouched for: there is no secret {secret_name(self.queue)}")  # fmt: skip

    def _no_place(self, state: str, why: str) -> Outcome:
        """For who has to sign in first, and for a key that had its visit: no place, and the cookies stay as they are."""
        url = self.queue.sign_in_url if state == "sign_in" else None
        where = Standing(self.queue, state, self._now_ms(), poll_s=NO_PLACE_POLL_S, sign_in_url=url or "")
        return Outcome(why, standing=where, set_cookies=self._cookies())

    def _turned_away(self, snapshot: Snapshot, status: str) -> Outcome:
        where = turned_away(self.queue, snapshot, status, self._now_ms())
        return Outcome(f"no new places: {status}", standing=where, set_cookies=self._cookies())

    def _candidate(self, why: str, now_ms: int, poll_s: int = standing.CANDIDATE_POLL_S, *,
                   snapshot: Snapshot | None = None) -> Outcome:  # fmt: skip
        cookie, hopeful = "", self.visitor.candidate
        visitor = hopeful.visitor if hopeful else identity.new_visitor(self.request)
        if hopeful is None:
            cookie = identity.candidate_cookie(self.queue, self.request, self.context, visitor, line=self._line(None)[0])
        where = standing.candidate(self.queue, now_ms, poll_s=poll_s)
        where.challenge = challenge_for(self.queue, visitor)
        if where.challenge is not None:
            where.poll_s = max(poll_s, WORK_POLL_S)
        if snapshot is not None:
            where = dressed(where, snapshot, self.queue.line)
        return Outcome(why, standing=where, set_cookies=self._cookies(candidate=cookie))

    def _now_ms(self) -> int:
        return self.context.now_ms(self.request, self.queue.scope)

    def _jitter(self, low: int, high: int) -> int:
        return low + int(self.request.random[-6:], 16) % (high - low + 1)

    def _without_store(self, away_ms: int) -> Outcome:
        if away_ms < AWAY_AFTER_MS:
            return self._overloaded(f"no connection to the store for {away_ms} ms")
        now_ms, per_minute, place = self._now_ms(), self.queue.store_error_admit_per_minute, self.visitor.place
        may_admit = self.wants_in and self.queue.on_store_error == "admit" and per_minute is not None
        if may_admit and self.context.node.take_store_error_admission(self.queue.id, per_minute or 1, self.request.now_ms):
            held = identity.store_error_pass(self.queue, self.request, place)
            # A candidate's cookie stays: it is worth a place once the store is back.
            cookie = identity.pass_cookie(self.queue, self.request, self.context, held)
            return Outcome("the store is away; let in", held, set_cookies=(cookie,))
        where = standing.unavailable(self.queue, now_ms, place.position if place else None, place.epoch if place else "")
        return Outcome("the store is away", standing=where, set_cookies=self._cookies())

    def _stands(self, place: Place, last: Snapshot, now_ms: int) -> Standing:
        """Where a place stands by an old snapshot."""
        seat = seated(place, last)
        if seat.arrival:
            return numbered(self.queue, last, seat.position, seat.line, now_ms)
        seen = seen_from(last, seat.line)
        return dressed(standing.in_line(self.queue, seen, seat.position, now_ms), seen, seat.line, seat.number or None)

    def _overloaded(self, why: str) -> Outcome:
        """Overload is not absence: whoever has a place keeps it, others stay candidates and try again at different times."""
        now_ms, retry_s, place = self._now_ms(), self._jitter(*BUSY_RETRY_S), self.visitor.place
        if place is None:
            return replace(self._candidate(why, now_ms, retry_s), is_refused=True)
        last = self.context.snapshots.last(self.queue.scope, place.epoch)
        where = (
            replace(self._stands(place, last, now_ms), poll_s=retry_s)
            if last is not None
            else Standing(self.queue, "waiting", now_ms, place.epoch, place.position, poll_s=retry_s)
        )
        return Outcome(why, standing=where)
