"""One decision: which requests the gate lets through, and what the others are told (design.md, section 4).

`decide` is a generator: it yields batches for Redis, is sent the replies, and returns a Forward or a Respond. Pure: the time
and the randomness come in with the request.
"""

from __future__ import annotations

from dataclasses import replace

from edge.core import answers, identity, reserved, standing
from edge.core.asking import look
from edge.core.conclude import write_context
from edge.core.errors import StoreAway, StoreBusy
from edge.core.identity import Visitor
from edge.core.messages import Context, Deciding, Forward, Request, Respond
from edge.core.model import Queue
from edge.core.routing import Match, any_matches, normalise_host
from edge.core.stand import Outcome, Step
from edge.core.standing import Standing

_READS = ("GET", "HEAD", "OPTIONS")


def decide(request: Request, context: Context) -> Deciding:
    """Decides one request. Raises nothing on purpose: trouble with Redis is an answer."""
    if request.target.startswith(reserved.PREFIX):
        return (yield from reserved.answer(request, context))
    match = context.router.match(request.host, request.target, request.method)
    if match is None:
        return _pass_by(request, context, "no rule")
    if _is_preflight(request):
        return _pass_by(request, context, "preflight")
    if all(match.is_exempt(queue, request.method) for group in match.groups for queue in group):
        return _pass_by(request, context, "asset or bypass")
    choice = identity.choose(match, request, context)
    if choice == "pass":
        return _pass_by(request, context, "country passes")
    if isinstance(choice, str):
        return _refused(match.groups[0][0], request, context)
    if match.is_exempt(choice.queue, request.method):
        return _pass_by(request, context, "asset or bypass")
    if _is_return(choice.queue, match, request):
        return _pass_by(request, context, "return from another site")
    if request.method == "HEAD" or _is_prefetch(request):
        return (yield from _look_only(choice, request, context))
    outcome = yield from Step(choice, request, context, wants_in=True).take()
    return _decision(choice, outcome, request, context)


def _pass_by(request: Request, context: Context, why: str) -> Forward:
    jar = context.cookies.read(request.header("cookie"))
    return Forward(why, cookie=jar.others if jar.had_ours else None)


def _refused(queue: Queue, request: Request, context: Context) -> Respond:
    """No queue of this rule takes visitors from there: closed to them, and never a way round the gate."""
    closed = Standing(queue, "closed", context.now_ms(request), poll_s=60)
    return answers.held(closed, request, context, "country not taken")


def _is_preflight(request: Request) -> bool:
    headers = request.headers
    return request.method == "OPTIONS" and "origin" in headers and "access-control-request-method" in headers


def _is_prefetch(request: Request) -> bool:
    return any("prefetch" in request.header(name).lower() for name in ("sec-purpose", "purpose", "x-moz"))


def _is_return(queue: Queue, match: Match, request: Request) -> bool:
    """A form posted at the top level from another site to a path that expects it: a payment coming back."""
    if request.method != "POST" or not any_matches(queue.return_paths, match.paths):
        return False
    site = request.header("sec-fetch-site")
    if site:
        return site == "cross-site" and request.header("sec-fetch-mode") in ("", "navigate")
    origin = request.header("origin")
    return bool(origin) and normalise_host(origin.partition("://")[2]) != normalise_host(request.host)


def _look_only(visitor: Visitor, request: Request, context: Context) -> Deciding:
    """HEAD and prefetches see the door but never join or claim."""
    now_ms = context.now_ms(request)
    try:
        view = yield from look(visitor.queue, request, context)
        held_pass = visitor.admission
        ended = held_pass is not None and held_pass.epoch == view.snapshot.epoch and held_pass.position in view.snapshot.ended
        if held_pass is not None and not ended:
            return _forward(visitor, Outcome("inside", held_pass), request, context)
        if view.snapshot.queueing == 0:
            return _pass_by(request, context, "nobody has to queue; not joined")
        where = standing.candidate(visitor.queue, view.now_ms)
        if visitor.place is not None and visitor.place.epoch == view.snapshot.epoch:
            where = standing.in_line(visitor.queue, view.snapshot, visitor.place.position, view.now_ms)
    except (StoreAway, StoreBusy):
        if visitor.admission is not None:
            return _forward(visitor, Outcome("inside; the store does not answer", visitor.admission), request, context)
        where = standing.unavailable(visitor.queue, now_ms)
    return answers.held(where, request, context, "looked at only")


def _decision(visitor: Visitor, outcome: Outcome, request: Request, context: Context) -> Forward | Respond:
    if outcome.admission is not None:
        return _forward(visitor, outcome, request, context)
    assert outcome.standing is not None
    where, status = outcome.standing, 429 if outcome.is_refused else None
    if where.state == "unavailable":
        status = 503
    elif outcome.is_refused and where.state == "candidate":
        where = where.on_page("busy")
    if request.method not in _READS:
        # What was typed must not vanish behind a page that looks like an answer.
        where, status = replace(where, page="form"), status or 503
    return answers.held(where, request, context, outcome.why, status=status, set_cookies=outcome.set_cookies)


def _forward(visitor: Visitor, outcome: Outcome, request: Request, context: Context) -> Forward:
    held = outcome.admission
    assert held is not None
    proof = context.origin_passes.get(visitor.queue.id, held.visitor, context.now_ms(request))
    jar = visitor.jar
    note = write_context(visitor.queue, held, outcome.set_cookies, fresh=outcome.fresh) if outcome.set_cookies else ""
    return Forward(outcome.why, visitor.queue.id, jar.others if jar.had_ours else None, proof, note)
