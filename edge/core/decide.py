"""One decision: which requests the gate lets through, and what the others are told (design.md, section 4).

`decide` is a generator: it yields batches for Redis, is sent the replies, and returns a Forward or a Respond. Pure: the time
and the randomness come in with the request.
"""

from __future__ import annotations

from dataclasses import replace

from edge.core import answers, cors, identity, reserved, standing
from edge.core.asking import look
from edge.core.conclude import write_context
from edge.core.errors import StoreAway, StoreBusy
from edge.core.identity import Visitor
from edge.core.lines import dressed, gives_no_places, numbered, seated, seen_from, turned_away
from edge.core.messages import Context, Deciding, Forward, Request, Respond
from edge.core.model import Queue
from edge.core.outcome import Outcome, from_memory
from edge.core.routing import Match
from edge.core.saying import AWAY_AFTER_MS
from edge.core.spelling import normalise_host
from edge.core.stand import Step
from edge.core.standing import Standing
from edge.core.token_header import jar_of

_READS = ("GET", "HEAD", "OPTIONS")
_ONLY_LOOKS = ("HEAD", "OPTIONS")
_TURNED = {"exempt": "asset or bypass", "pass": "country passes"}


def decide(request: Request, context: Context) -> Deciding:
    """Decides one request. Raises nothing on purpose: trouble with Redis is an answer."""
    if reserved.is_reserved(request.target):
        answered = reserved.answer(request, context)
        return answered if isinstance(answered, Respond) else (yield from answered)
    match = context.router.match(request.host, request.target, request.method)
    if match is None:
        return _pass_by(request, context, "no rule")
    if match.is_all_exempt:
        return _pass_by(request, context, "asset or bypass")
    if cors.is_preflight(request):
        return _pass_by(request, context, "preflight")
    if is_return(match, request):
        return _pass_by(request, context, "return from another site")
    visitor = identity.choose(match, request, context)
    crawler = crawling(visitor, match, request, context)
    if crawler is not None:
        return (yield from _crawl(crawler, match, request, context))
    if isinstance(visitor, str):
        if visitor == "refuse":
            return _refused(match, request, context)
        return _pass_by(request, context, _TURNED[visitor])
    outcome = from_memory(visitor, request, context)
    if outcome is None:
        if request.method in _ONLY_LOOKS or is_prefetch(request):
            return (yield from _look_only(visitor, match, request, context))
        outcome = yield from Step(visitor, request, context, wants_in=True).take()
    if outcome.admission is not None:
        return _forward(visitor, outcome, match, request, context)
    return _held(visitor.queue, outcome, match, request, context)


def _pass_by(request: Request, context: Context, why: str) -> Forward:
    jar = context.cookies.read(request.header("cookie"))
    return Forward(why, cookie=jar.others if jar.had_ours else None)


def crawling(found: Visitor | identity.Turned, match: Match, request: Request, context: Context) -> Visitor | None:
    """The visitor, if that is a verified crawler without a place for which the queue has a rule of its own."""
    if found == "refuse" and match.groups[0][0].crawlers == "pass":  # from whatever country it crawls
        found = Visitor(match.groups[0][0], jar_of(request, context))
    if isinstance(found, str) or found.queue.crawlers == "as_people" or found.place is not None or found.admission is not None:
        return None
    return found if identity.crawler_of(found.queue, request, context) else None


def _crawl(visitor: Visitor, match: Match, request: Request, context: Context) -> Deciding:
    """A crawler passes, or sees the door as HEAD does: it never joins, and is told to come back later while people queue."""
    queue = visitor.queue
    if queue.crawlers == "pass":
        return _pass_by(request, context, f"a verified crawler; {_rule(match, queue)}")
    seen = yield from _look_only(visitor, match, request, context)
    return answers.come_back(seen, reserved.CRAWLER_RETRY_S) if isinstance(seen, Respond) else seen


def _refused(match: Match, request: Request, context: Context) -> Respond:
    """No queue of this rule takes visitors from there: closed to them, and never a way round the gate."""
    queue = match.groups[0][0]
    closed = Standing(queue, "closed", context.now_ms(request, queue.scope), poll_s=reserved.CLOSED_POLL_S)
    return _held(queue, Outcome(f"country {request.country or 'unknown'} not taken", standing=closed), match, request, context)


def is_prefetch(request: Request) -> bool:
    """Whether a browser asks ahead of its user."""
    headers = request.headers
    return any(name in headers and "prefetch" in headers[name].lower() for name in ("sec-purpose", "purpose", "x-moz"))


def is_return(match: Match, request: Request) -> bool:
    """A form posted at the top level from another site to a path that expects it: a payment coming back.

    Such a request carries no cookie of ours (SameSite), so any queue of the rule may be the visitor's.
    """
    if request.method != "POST" or not match.returns:
        return False
    if not all(any(queue.id in match.returns for queue in group) for group in match.groups):
        return False
    site = request.header("sec-fetch-site")
    if site:
        is_top = request.header("sec-fetch-mode") in ("", "navigate") and request.header("sec-fetch-dest") in ("", "document")
        return site == "cross-site" and is_top
    origin = request.header("origin")
    return bool(origin) and normalise_host(origin.partition("://")[2]) != normalise_host(request.host)


def _look_only(visitor: Visitor, match: Match, request: Request, context: Context) -> Deciding:
    """HEAD and prefetches see the door but never join or claim. A pass that only Redis can judge is renewed."""
    if visitor.admission is not None:
        outcome = yield from Step(visitor, request, context, wants_in=False).take()
        if outcome.admission is not None:
            return _forward(visitor, outcome, match, request, context)
    queue, place = visitor.queue, visitor.place
    try:
        view = yield from look(queue, request, context)
        if view.away_ms >= AWAY_AFTER_MS:
            raise StoreAway(view.away_ms)
    except (StoreAway, StoreBusy) as error:
        where = standing.unavailable(queue, context.now_ms(request, queue.scope))
        return _held(queue, Outcome(str(error), standing=where), match, request, context)
    if view.snapshot.queueing == 0:
        return _pass_by(request, context, f"nobody has to queue; not joined; {_rule(match, queue)}")
    snapshot = view.snapshot
    where = dressed(standing.candidate(queue, view.now_ms), snapshot, queue.line)
    if place is not None and place.epoch == snapshot.epoch:
        seat = seated(place, snapshot)
        seen = seen_from(snapshot, seat.line)
        where = (
            numbered(queue, snapshot, seat.position, seat.line, view.now_ms)
            if seat.arrival
            else dressed(standing.in_line(queue, seen, seat.position, view.now_ms), seen, seat.line, seat.number or None)
        )
    elif gives_no_places(snapshot):
        where = turned_away(queue, snapshot, snapshot.status, view.now_ms)
    return _held(queue, Outcome("looked at only", standing=where), match, request, context)


def _rule(match: Match, queue: Queue) -> str:
    return f"rule {match.rules.get(queue.id, '')} of {queue.id}"


def _held(queue: Queue, outcome: Outcome, match: Match, request: Request, context: Context) -> Respond:
    assert outcome.standing is not None
    where, status = outcome.standing, 429 if outcome.is_refused else None
    if where.state in answers.HELD_ERRORS:
        status = answers.HELD_ERRORS[where.state]
    elif outcome.is_refused and where.state == "candidate":
        where = replace(where, page="busy")
    if request.method not in _READS:
        # What was typed must not vanish behind a page that looks like an answer.
        where, status = replace(where, page="form"), status or 503
    why = f"{outcome.why}; {_rule(match, queue)}"
    return answers.held(where, request, context, why, status=status, set_cookies=outcome.set_cookies)


def _forward(visitor: Visitor, outcome: Outcome, match: Match, request: Request, context: Context) -> Forward:
    held, queue, jar = outcome.admission, visitor.queue, visitor.jar
    assert held is not None
    proof = context.origin_passes.get(queue.id, held, request.now_ms)
    note = write_context(queue, held, outcome.set_cookies, fresh=outcome.fresh) if outcome.set_cookies else ""
    why = f"{outcome.why} {held.position}; rule {match.rules.get(queue.id, '')} of {queue.id}"
    return Forward(why, queue.id, jar.others if jar.had_ours else None, proof, note)
