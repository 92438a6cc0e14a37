"""Who is asking: the tokens that a request carries, the queue that decides, and new tokens for what Redis answered."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, TypeVar

from edge.core import cookies, keyring, tokens
from edge.core.calls import Answer
from edge.core.cookies import CANDIDATE_MAX_AGE_S, PLACE_MAX_AGE_S, Cookies
from edge.core.errors import StoreBusy, TokenError
from edge.core.messages import Context, Request
from edge.core.model import Queue
from edge.core.routing import Group, Match, choose_by_country
from edge.core.token_header import jar_of
from edge.core.tokens import Candidate, Pass, Place

STORE_ERROR_PASS_MS = 120_000


@dataclass(slots=True)
class Visitor:
    """A request's tokens for one queue. At most one of them decides: pass, then place, then candidate.

    `is_behind`: the pass is newer than the cookie, which is to be set again.
    `dead`, `dead_candidate`: there was a cookie of ours for this queue that proves nothing; it is to be taken away.
    """

    queue: Queue
    jar: Cookies
    admission: Pass | None = None
    place: Place | None = None
    candidate: Candidate | None = None
    is_behind: bool = False
    dead: bool = False
    dead_candidate: bool = False

    @property
    def rank(self) -> int:
        """0 nobody, 1 candidate, 2 place, 3 pass."""
        return 3 if self.admission else 2 if self.place else 1 if self.candidate else 0

    @property
    def weight(self) -> tuple[int, bool]:
        """Which of the queues of one rule decides: the token that is worth most, and of a group the queue whose line it names."""
        token = self.admission or self.place or self.candidate
        return self.rank, token is not None and 0 <= token.line - self.queue.line < self.queue.line_count


def read_visitor(queue: Queue, request: Request, context: Context, jar: Cookies) -> Visitor:
    """The best valid tokens for `queue`; of several places the newest, so that an old copy loses nobody's place.

    A node that has not read a snapshot yet does not know the time by which they expire; then that is for the step to judge.
    """
    visitor = Visitor(queue, jar)
    now_ms = context.now_ms(request, queue.scope) if context.snapshots.has(queue.scope) else 0
    values = jar.values(cookies.cookie_name(queue, request.scheme))
    for value in values:
        try:
            token = context.tokens.read(value, queue.scope)
        except TokenError:
            continue
        if isinstance(token, Candidate):
            continue
        held = token if isinstance(token, Pass) else None
        known = context.granted.of(token)
        if known is not None and (held is None or known.expires_ms > held.expires_ms):
            held = known
        place = token if isinstance(token, Place) else _place_behind(token)
        # What was given without Redis runs by the clock of the nodes.
        until_ms = request.now_ms if held is not None and held.marked else now_ms
        if held is not None and held.expires_ms > until_ms and _newer(visitor.admission, held) is held:
            visitor.admission, visitor.is_behind = held, held is not token
        if place is not None and place.expires_ms > now_ms:
            visitor.place = _newer(visitor.place, place)
    visitor.dead = bool(values) and visitor.admission is None and visitor.place is None
    if len(jar.ours) > 1 or not values or jar.tokens is not None:
        _read_candidate(visitor, request, context, now_ms)
    if jar.tokens is not None:
        # One header for all kinds: what is not of this kind is not dead.
        visitor.dead, visitor.dead_candidate = bool(values) and visitor.rank == 0, False
    return visitor


def _read_candidate(visitor: Visitor, request: Request, context: Context, now_ms: int) -> None:
    values = visitor.jar.values(cookies.cookie_name(visitor.queue, request.scheme, candidate=True))
    if not values:
        return
    if visitor.admission is None and visitor.place is None:
        for value in values:
            try:
                token = context.tokens.read(value, visitor.queue.scope)
            except TokenError:
                continue
            if isinstance(token, Candidate) and token.expires_ms > now_ms:
                visitor.candidate = _newer(visitor.candidate, token)
    visitor.dead_candidate = visitor.candidate is None


_Token = TypeVar("_Token", Pass, Place, Candidate)


def _newer(one: _Token | None, other: _Token) -> _Token:
    return other if one is None or other.expires_ms > one.expires_ms else one


def _place_behind(held: Pass) -> Place | None:
    """The place that a marked pass stands in for; None for any other pass."""
    if not held.marked or held.position == 0:
        return None
    return Place(held.scope, held.epoch, held.visitor, held.position, 0, held.expires_ms + PLACE_MAX_AGE_S * 1000, held.line)


def crawler_of(queue: Queue, request: Request, context: Context) -> str:
    """The name of the verified crawler that asks, where the queue has a rule of its own for them; else empty."""
    return "" if queue.crawlers == "as_people" else context.crawlers().name_of(request.client)


Turned = Literal["exempt", "pass", "refuse"]


def choose(match: Match, request: Request, context: Context) -> Visitor | Turned:
    """The visitor as the deciding queue sees it, or how the rules turn the request: exempt, "pass" or "refuse" by country.

    Within a rule a valid token decides, and only without one the country does. Where the spellings of the path lead to several
    rules, the first queue that does not know the visitor as inside decides.
    """
    jar = jar_of(request, context)
    inside: Visitor | None = None
    turned: Turned = "exempt"
    for group in match.groups:
        found = choose_within(group, request, context, jar)
        if found == "refuse":
            return "refuse"
        if found == "pass":
            turned = "pass"
        elif found.queue.id not in match.exempt:
            if found.admission is None:
                return found
            inside = inside or found
    return inside or turned


def choose_within(group: Group, request: Request, context: Context, jar: Cookies) -> Visitor | Literal["pass", "refuse"]:
    """The visitor as one rule's queue sees it: by a token, else by country."""
    if len(group) == 1 and jar.has_tokens:
        # The plain case: one queue, and the country matters only to whom it does not know.
        only = read_visitor(group[0], request, context, jar)
        if only.admission is not None or only.rank:
            return only
        visitors = [only]
    else:
        visitors = [read_visitor(queue, request, context, jar) for queue in group] if jar.has_tokens else []
    best = max(visitors, key=lambda visitor: visitor.weight, default=None)
    if best is not None and best.rank > 0:
        return best
    choice = choose_by_country(group, request.country)
    if not isinstance(choice, Queue):
        return choice
    return next((visitor for visitor in visitors if visitor.queue is choice), None) or Visitor(choice, jar)


def new_visitor(request: Request) -> str:
    """A fresh visitor id: 96 random bits, 16 characters."""
    return keyring.base64url(bytes.fromhex(request.random[:24]))


def candidate_cookie(queue: Queue, request: Request, context: Context, visitor: str = "", *, line: int | None = None,
                     invite: str = "") -> str:  # fmt: skip
    """The Set-Cookie header of a candidate, for the ordinary line of the queue unless `line` says another."""
    expires_ms = context.now_ms(request, queue.scope) + CANDIDATE_MAX_AGE_S * 1000
    hopeful = Candidate(queue.scope, visitor or new_visitor(request), expires_ms, queue.line if line is None else line, invite)
    text = tokens.write_candidate(context.ring, hopeful)
    return cookies.set_cookie(queue, request.scheme, text, CANDIDATE_MAX_AGE_S, candidate=True)


def place_cookie(queue: Queue, request: Request, context: Context, visitor: str, epoch: str, position: int, now_ms: int, *,
                 line: int = 0, arrival: bool = False, number: int = 0) -> str:  # fmt: skip
    """The Set-Cookie header of a place whose last sign of life is now."""
    place = Place(queue.scope, epoch, visitor, position, now_ms, now_ms + PLACE_MAX_AGE_S * 1000, line, arrival, number)
    return place_cookie_of(queue, request, context, place)


def place_cookie_of(queue: Queue, request: Request, context: Context, place: Place) -> str:
    """The Set-Cookie header of this place."""
    return cookies.set_cookie(queue, request.scheme, tokens.write_place(context.ring, place), PLACE_MAX_AGE_S)


def pass_from(answer: Answer, queue: Queue, visitor: str) -> Pass:
    """The pass that an answer with the verdict `inside` grants. Raises StoreBusy when the answer is not whole."""
    if answer.snapshot is None:
        raise StoreBusy("the store let someone in and did not say where")
    renew_at_ms, expires_ms = answer.number(2), answer.number(1)
    return Pass(queue.scope, answer.snapshot.epoch, visitor, answer.number(0), renew_at_ms, expires_ms, False, answer.line)


def store_error_pass(queue: Queue, request: Request, place: Place | None) -> Pass:
    """A marked pass for someone let in while Redis is away; it remembers the place, which is worth more than two minutes."""
    expires_ms = request.now_ms + STORE_ERROR_PASS_MS
    if place is None:
        return Pass(queue.scope, "", new_visitor(request), 0, expires_ms, expires_ms, True)
    return Pass(queue.scope, place.epoch, place.visitor, place.position, expires_ms, expires_ms, True, place.line)


def pass_cookie(queue: Queue, request: Request, context: Context, admission: Pass) -> str:
    """The Set-Cookie header of a pass; the cookie lives on a little, so that its end can be told apart from a stranger."""
    text = tokens.write_pass(context.ring, admission)
    return cookies.set_cookie(queue, request.scheme, text, PLACE_MAX_AGE_S)
