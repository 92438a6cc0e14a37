"""The reserved paths, exact: /.stanchion/health, language, and for each queue <queue>/status, leave, away, invite and draw."""

from __future__ import annotations

from contextlib import suppress
from dataclasses import replace

from edge.core import answers, commands, cookies, cors, identity, standing
from edge.core.asking import ask, look, script_random
from edge.core.calls import Call
from edge.core.commands import EndReason
from edge.core.draw_record import record
from edge.core.errors import StoreAway, StoreBusy
from edge.core.identity import Visitor, crawler_of, read_visitor
from edge.core.invited import invited
from edge.core.invites import query_of
from edge.core.language_choice import chosen_language
from edge.core.messages import Context, Deciding, Request, Respond
from edge.core.model import Queue
from edge.core.opening import facts
from edge.core.outcome import Outcome, from_memory
from edge.core.spelling import normalise_host, path_of
from edge.core.stand import Step
from edge.core.standing import Standing
from edge.core.token_header import NAME, jar_of
from edge.core.tokens import Pass, Place

PREFIX = "/.stanchion/"
CLOSED_POLL_S = 60
_ACTIONS = ("status", "leave", "away", "invite", "draw")
CRAWLER_RETRY_S = 600  # a search engine comes again by itself; it need not hurry
_KNOWN = "nothing is here; known are /.stanchion/health, language, and for each queue <queue>/status, leave, away, invite, draw"


def is_reserved(target: str) -> bool:
    """Whether a request target is one of ours. Exactly as it is written: no other spelling of the prefix is taken."""
    return target.startswith(PREFIX) or (not target.startswith("/") and path_of(target).startswith(PREFIX))


def answer(request: Request, context: Context) -> Respond | Deciding:
    """The gate's own answer to any path under the prefix, at once or by way of Redis."""
    path = path_of(request.target).removeprefix(PREFIX)
    if path == "health":
        return _only(("GET", "HEAD"), request) or answers.json_answer(200, {"status": "ok"}, "health")
    if path == "language":
        return _only(("GET",), request) or chosen_language(request, _came_from(request) or "/")
    queue_id, _, action = path.partition("/")
    queue = context.config.queue(queue_id)
    if queue is None or action not in _ACTIONS:
        return answers.problem(request, 404, "not found", _KNOWN)
    if cors.is_preflight(request) and action != "invite":
        return _preflight(queue, action, request)
    visitor = read_visitor(queue, request, context, jar_of(request, context))
    if action == "status":
        known = _only(("GET",), request) or _crawler_status(visitor, request, context) or _known_status(visitor, request, context)
        return known or _status(visitor, request, context)
    if action == "invite":
        return _only(("GET",), request) or invited(visitor, request, context)
    if action == "draw":
        return _only(("GET",), request) or _draw(queue, request, context)
    refused = _only(("POST",), request) or _cross_site(visitor.queue, request)
    if action == "away":
        return refused or _away(visitor, request, context)
    return refused or _leave(visitor, request, context)


def _away(visitor: Visitor, request: Request, context: Context) -> Deciding:
    """Nobody looks at the page any more. The place stays, whatever comes of it; nobody reads this answer."""
    place = visitor.place
    since = query_of(request.target).get("since", "")
    # Told by a page that was left before the last sign of life: it is a reload, and the new page is looked at.
    is_late = place is not None and since.isascii() and since.isdigit() and len(since) < 16 and place.touched_ms > int(since)
    if place is None or visitor.admission is not None or place.arrival or is_late:
        return Respond(204, answers.NO_STORE, "", "away: nothing to do")
    with suppress(StoreAway, StoreBusy):
        yield from ask(_end(visitor.queue, place, "away", request), visitor.queue, request)
    # The cookie forgets the last sign of life: a page that is open after all, a reload say, shows one at its next poll.
    forgetful = identity.place_cookie_of(visitor.queue, request, context, replace(place, touched_ms=0))
    return Respond(204, (*answers.NO_STORE, ("Set-Cookie", forgetful)), "", "away")


def _end(queue: Queue, held: Pass | Place, reason: EndReason, request: Request) -> Call:
    is_arrival = isinstance(held, Place) and held.arrival
    return commands.end(queue.scope, held.epoch, held.position, held.visitor, reason, script_random(request), line=held.line,
                        arrival=is_arrival)  # fmt: skip


def _draw(queue: Queue, request: Request, context: Context) -> Deciding:
    """What is published of the draw, for anyone; there is nothing of the visitor in it."""
    if queue.prequeue_order is None:
        return answers.problem(request, 404, "not found", f"queue {queue.id} has no pre-queue")
    try:
        view = yield from look(queue, request, context)
    except (StoreAway, StoreBusy) as error:
        return answers.problem(request, 503, "unavailable", str(error), (("Retry-After", "10"),))
    lanes = {lane.name: queue.line + index for index, lane in enumerate(queue.lanes)} or {"standard": queue.line}
    said = record(queue.id, lanes, facts(queue, view.snapshot, context.ring))
    return answers.json_answer(200, said, "draw", (cors.vary(queue, "Accept"), *cors.headers(queue, request)))


def _preflight(queue: Queue, action: str, request: Request) -> Respond:
    """The answer to a browser that asks on behalf of a script of another origin."""
    if not cors.is_allowed(queue, request):
        said = f"{request.header('origin')[:100]} is not among the allowed_origins of queue {queue.id}"
        return answers.problem(request, 403, "forbidden", said, (cors.vary(queue, "Access-Control-Request-Method"),))
    methods = ("POST",) if action in ("leave", "away") else ("GET",)
    return Respond(204, (*answers.NO_STORE, *cors.preflight(queue, request, methods)), "", "preflight")


def _only(methods: tuple[str, ...], request: Request) -> Respond | None:
    if request.method in methods:
        return None
    allowed = ", ".join(methods)
    return answers.problem(request, 405, "method not allowed", f"use {allowed}", (("Allow", allowed),))


def _cross_site(queue: Queue, request: Request) -> Respond | None:
    """A page elsewhere must not make its readers give up their places. Cookies go along by themselves, the header never does."""
    if request.header(NAME) or cors.is_allowed(queue, request):
        return None
    origin, site = request.header("origin"), request.header("sec-fetch-site")
    foreign = origin and normalise_host(origin.partition("://")[2]) != normalise_host(request.host)
    if site in ("cross-site", "same-site") or (not site and foreign):
        return answers.problem(request, 403, "forbidden", "a place is given up only from the page of this site")
    return None


def _crawler_status(visitor: Visitor, request: Request, context: Context) -> Respond | None:
    """A verified crawler runs the page's script, perhaps; it gets no place here either."""
    queue = visitor.queue
    if visitor.rank > 1 or not crawler_of(queue, request, context):
        return None
    now_ms = context.now_ms(request, queue.scope)
    if queue.crawlers == "pass":
        return answers.status_answer(Standing(queue, "inside", now_ms, poll_s=CLOSED_POLL_S), request, "a verified crawler")
    told = answers.status_answer(standing.candidate(queue, now_ms, poll_s=CRAWLER_RETRY_S), request, "a verified crawler")
    return answers.come_back(told, CRAWLER_RETRY_S)


def _known_status(visitor: Visitor, request: Request, context: Context) -> Respond | None:
    if visitor.rank == 0:
        entry = context.router.entry(visitor.queue, request.country)
        return None if entry is visitor.queue else _not_from_there(visitor, request, context, is_passed=entry == "pass")
    outcome = from_memory(visitor, request, context)
    return None if outcome is None else _told(visitor, outcome, request, context)


def _status(visitor: Visitor, request: Request, context: Context) -> Deciding:
    outcome = yield from Step(visitor, request, context, wants_in=False).take()
    return _told(visitor, outcome, request, context)


def _told(visitor: Visitor, outcome: Outcome, request: Request, context: Context) -> Respond:
    queue = visitor.queue
    if outcome.admission is None:
        assert outcome.standing is not None
        status = 429 if outcome.is_refused else 200
        return answers.status_answer(outcome.standing, request, outcome.why, outcome.set_cookies, status=status)
    held = outcome.admission
    inside = Standing(queue, "inside", context.now_ms(request, queue.scope), held.epoch, held.position or None, 0,
                      poll_s=queue.renew_every_s, lane=queue.lane_of(held.line))  # fmt: skip
    return answers.status_answer(inside, request, outcome.why, outcome.set_cookies)


def _not_from_there(visitor: Visitor, request: Request, context: Context, *, is_passed: bool) -> Respond:
    """The country decides here as it does at the door, or the status would be a way round it."""
    queue, now_ms = visitor.queue, context.now_ms(request, visitor.queue.scope)
    dead = (cookies.expire_cookie(queue, request.scheme),) if visitor.dead else ()
    if is_passed:
        return answers.status_answer(Standing(queue, "inside", now_ms, poll_s=CLOSED_POLL_S), request, "country passes", dead)
    return answers.status_answer(Standing(queue, "closed", now_ms, poll_s=CLOSED_POLL_S), request, "country not taken", dead)


def _leave(visitor: Visitor, request: Request, context: Context) -> Deciding:
    queue, held = visitor.queue, visitor.admission or visitor.place
    now_ms = context.now_ms(request, queue.scope)
    if held is not None and held.epoch:
        try:
            yield from ask(_end(queue, held, "left", request), queue, request)
        except (StoreAway, StoreBusy) as error:
            # The place is not given up silently in half: the cookie stays, and the visitor can try again.
            where = Standing(queue, "unavailable", now_ms, held.epoch, held.position or None, poll_s=10)
            return _left(where, request, context, str(error), 503, ())
    if visitor.admission is not None:
        context.granted.forget(visitor.admission)
    gone = tuple(cookies.expire_cookie(queue, request.scheme, candidate=candidate) for candidate in (False, True))
    return _left(Standing(queue, "ended", now_ms), request, context, "left", 200, gone)


def _left(where: Standing, request: Request, context: Context, why: str, status: int, expire: tuple[str, ...]) -> Respond:
    if answers.wants_json(request) or "text/html" not in request.header("accept"):
        return answers.status_answer(where, request, why, expire, status=status)
    back = replace(request, target=_way_back(where.queue, request))
    return answers.held(where, back, context, why, status=status, set_cookies=expire)


def _way_back(queue: Queue, request: Request) -> str:
    """The address that the visitor left from; where the browser does not say, the start of what the queue guards."""
    return _came_from(request) or queue.routes[0].path.removesuffix("*")


def _came_from(request: Request) -> str:
    """The address on this host that the browser says it comes from; empty if it says none, or one of ours."""
    host, _, path = request.header("referer").partition("://")[2].partition("/")
    return f"/{path}" if host and host == request.host and not is_reserved(f"/{path}") else ""
