"""Who is asking: the tokens that a request carries, the queue that decides, and new tokens for what Redis answered."""

from __future__ import annotations

import base64
from dataclasses import dataclass

from edge.core import cookies, tokens
from edge.core.commands import Answer
from edge.core.cookies import CANDIDATE_MAX_AGE_S, PLACE_MAX_AGE_S, Cookies
from edge.core.errors import TokenError, TokenExpired
from edge.core.messages import Context, Request
from edge.core.model import Queue
from edge.core.routing import Match, choose_by_country
from edge.core.tokens import Candidate, Pass, Place

STORE_ERROR_PASS_MS = 120_000


@dataclass(frozen=True)
class Visitor:
    """A request's tokens for one queue. At most one of them decides: pass, then place, then candidate.

    `dead`: there was a cookie of ours for this queue that proves nothing; it is to be taken away.
    """

    queue: Queue
    jar: Cookies
    admission: Pass | None = None
    place: Place | None = None
    candidate: Candidate | None = None
    dead: bool = False

    @property
    def rank(self) -> int:
        """0 nobody, 1 candidate, 2 place, 3 pass."""
        return 3 if self.admission else 2 if self.place else 1 if self.candidate else 0


def read_visitor(queue: Queue, request: Request, context: Context, jar: Cookies) -> Visitor:
    """The best valid tokens for `queue`; of several places the newest, so that an old copy loses nobody's place."""
    admission: Pass | None = None
    place: Place | None = None
    candidate: Candidate | None = None
    now_ms = context.now_ms(request)
    values = jar.values(cookies.cookie_name(queue, request.scheme))
    for value in values:
        try:
            found = context.tokens.read("pass", value, queue.id, now_ms)
            if isinstance(found, Pass) and (admission is None or found.expires_ms > admission.expires_ms):
                admission = found
            continue
        except TokenExpired as over:
            place = _place_behind(over.token, now_ms) or place
            continue
        except TokenError:
            pass
        try:
            other = context.tokens.read("place", value, queue.id, now_ms)
            if isinstance(other, Place) and (place is None or other.expires_ms > place.expires_ms):
                place = other
        except TokenError:
            pass
    dead = bool(values) and admission is None and place is None
    if admission is None and place is None:
        for value in jar.values(cookies.cookie_name(queue, request.scheme, candidate=True)):
            try:
                hopeful = context.tokens.read("candidate", value, queue.id, now_ms)
                if isinstance(hopeful, Candidate):
                    candidate = hopeful
            except TokenError:
                continue
    return Visitor(queue, jar, admission, place, candidate, dead)


def _place_behind(token: object, now_ms: int) -> Place | None:
    """The place that a marked pass stood in for, once that is over; None for any other token."""
    if not isinstance(token, Pass) or not token.marked or token.position == 0:
        return None
    expires_ms = token.expires_ms + PLACE_MAX_AGE_S * 1000
    return Place(token.queue, token.epoch, token.visitor, token.position, 0, expires_ms) if expires_ms > now_ms else None


def choose(match: Match, request: Request, context: Context) -> Visitor | str:
    """The visitor as the deciding queue sees it, or "pass" or "refuse" by country.

    The most specific rule comes first; within a rule a valid token decides, and only without one the country does.
    """
    jar = context.cookies.read(request.header("cookie"))
    for group in match.groups:
        visitors = [read_visitor(queue, request, context, jar) for queue in group] if jar.had_ours else []
        best = max(visitors, key=lambda visitor: visitor.rank, default=None)
        if best is not None and best.rank > 0:
            return best
        choice = choose_by_country(Match((group,), match.paths), request.country)
        if isinstance(choice, Queue):
            return next((v for v in visitors if v.queue is choice), Visitor(choice, jar))
        if choice == "pass":
            return choice
    return "refuse"


def new_visitor(request: Request) -> str:
    """A fresh visitor id: 96 random bits, 16 characters."""
    return base64.urlsafe_b64encode(bytes.fromhex(request.random[:24])).decode()


def candidate_cookie(queue: Queue, request: Request, context: Context, visitor: str = "") -> str:
    """The Set-Cookie header of a candidate."""
    expires_ms = context.now_ms(request) + CANDIDATE_MAX_AGE_S * 1000
    text = tokens.write_candidate(context.ring, Candidate(queue.id, visitor or new_visitor(request), expires_ms))
    return cookies.set_cookie(queue, request.scheme, text, CANDIDATE_MAX_AGE_S, candidate=True)


def place_cookie(queue: Queue, request: Request, context: Context, visitor: str, epoch: str, position: int, now_ms: int) -> str:
    """The Set-Cookie header of a place whose last sign of life is now."""
    place = Place(queue.id, epoch, visitor, position, now_ms, now_ms + PLACE_MAX_AGE_S * 1000)
    return place_cookie_of(queue, request, context, place)


def place_cookie_of(queue: Queue, request: Request, context: Context, place: Place) -> str:
    """The Set-Cookie header of this place."""
    return cookies.set_cookie(queue, request.scheme, tokens.write_place(context.ring, place), PLACE_MAX_AGE_S)


def pass_from(answer: Answer, queue: Queue, visitor: str) -> Pass:
    """The pass that an answer with the verdict `inside` grants."""
    assert answer.snapshot is not None
    return Pass(queue.id, answer.snapshot.epoch, visitor, answer.number(0), answer.number(2), answer.number(1))


def store_error_pass(queue: Queue, request: Request, context: Context, place: Place | None) -> Pass:
    """A marked pass for someone let in while Redis is away; it remembers the place, which is worth more than two minutes."""
    expires_ms = context.now_ms(request) + STORE_ERROR_PASS_MS
    if place is None:
        return Pass(queue.id, "", new_visitor(request), 0, expires_ms, expires_ms, marked=True)
    return Pass(queue.id, place.epoch, place.visitor, place.position, expires_ms, expires_ms, marked=True)


def pass_cookie(queue: Queue, request: Request, context: Context, admission: Pass) -> str:
    """The Set-Cookie header of a pass; the cookie lives on a little, so that its end can be told apart from a stranger."""
    text = tokens.write_pass(context.ring, admission)
    return cookies.set_cookie(queue, request.scheme, text, PLACE_MAX_AGE_S)
