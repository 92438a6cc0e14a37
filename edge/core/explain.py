"""Which queue decides about a request, and why: the gate's own answer, step by step, without asking Redis or changing anything.

Every judgement is made by the functions that `decide` uses; a test compares the two over configurations and requests. Where the
answer depends on the state of the queue, the last snapshot that the context holds is looked at; without one it "depends".
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from edge.core import cors, identity, reserved
from edge.core.asking import at_hand
from edge.core.decide import crawling, is_prefetch, is_return
from edge.core.explain_tokens import tokens_seen
from edge.core.explain_words import Explanation, Step
from edge.core.identity import Visitor
from edge.core.lines import gives_no_places, seated
from edge.core.messages import Context, Request
from edge.core.model import Queue
from edge.core.outcome import needs_nothing, waits_on
from edge.core.routing import Group, Match, extension_of
from edge.core.rules import Rank, Rule, covers
from edge.core.snapshot import Snapshot
from edge.core.spelling import meaning_of_pattern, normalise_host, path_of, spellings
from edge.core.token_header import jar_of
from edge.core.vouching import is_given

RULES_SHOWN = 20
# What tells two ranks apart, in their order (`edge.core.rules`).
_BECAUSE = ("rule_host", "rule_host_length", "rule_path_length", "rule_exact", "rule_methods")


def explain(request: Request, context: Context, *, keys_known: bool = True) -> Explanation:
    """What the gate would do with this request.

    Snapshots that the context holds are taken into account. `keys_known`: whether its keys are those of the edges; without them
    no token can be read, and the explanation says so.
    """
    if reserved.is_reserved(request.target):
        return Explanation("answer", "", (Step("reserved"),))
    steps = list(_address(request))
    match = context.router.match(request.host, request.target, request.method)
    if match is None:
        return Explanation("bypass", "", (*steps, Step("no_rule")))
    steps += _rules(request, context, match)
    passed = _passes_by(request, match)
    if passed:
        return Explanation("bypass", "", (*steps, *passed))
    return _by_queue(request, context, match, [*steps, *_tokens(request, context, match, keys_known=keys_known)])


def _address(request: Request) -> Iterator[Step]:
    host, paths = normalise_host(request.host), spellings(path_of(request.target))
    yield Step("address", {"host": host or "*", "path": paths[0], "method": request.method.upper()})
    if not host:
        yield Step("no_host")
    if len(paths) > 1:
        yield Step("spellings", {"paths": " ".join(paths[:RULES_SHOWN])})


def _rules(request: Request, context: Context, match: Match) -> Iterator[Step]:
    """The rules that hold for some spelling: the one that decides first, then those that share it, then the others."""
    host, method = normalise_host(request.host), request.method.upper()
    held = [(rule, queue) for queue in context.config.queues for rule in map(Rule.of, queue.routes)
            if any(rule.holds(host, path, method) for path in match.paths)]  # fmt: skip
    deciding = {(queue.id, match.rules[queue.id]) for group in match.groups for queue in group}
    ranks = sorted({rule.rank for rule, _ in held}, reverse=True)
    first = True
    held.sort(key=lambda pair: ((pair[1].id, pair[0].words) in deciding, pair[0].rank), reverse=True)
    for rule, queue in held[:RULES_SHOWN]:
        values = {"rule": rule.words, "queue": queue.id}
        if (queue.id, rule.words) not in deciding:
            yield Step("rule_holds", values)
        else:
            yield Step(_because(rule.rank, ranks) if first else "rule_shared", values)
        first = False


def _because(rank: Rank, ranks: list[Rank]) -> str:
    below = next((other for other in ranks if other < rank), None)
    if below is None:
        return "rule_only"
    return next(code for code, one, other in zip(_BECAUSE, rank, below, strict=True) if one != other)


def _passes_by(request: Request, match: Match) -> list[Step]:
    """Why no queue is asked at all; nothing if one is."""
    if match.is_all_exempt:
        return [_exempt(queue, request, match) for group in match.groups for queue in group]
    if cors.is_preflight(request):
        return [Step("preflight")]
    return [Step("return")] if is_return(match, request) else []


def _exempt(queue: Queue, request: Request, match: Match) -> Step:
    meanings = {pattern: meaning_of_pattern(pattern) for pattern in queue.bypass}
    if covers(tuple(meanings.values()), match.paths):
        used = [pattern for pattern, meaning in meanings.items() if any(covers((meaning,), (path,)) for path in match.paths)]
        return Step("bypass", {"queue": queue.id, "pattern": " ".join(used)})
    return Step("asset", {"queue": queue.id, "extension": extension_of(match.paths[0])})


def _tokens(request: Request, context: Context, match: Match, *, keys_known: bool) -> Iterable[Step]:
    return tokens_seen(request, context, [queue for group in match.groups for queue in group], keys_known=keys_known)


def _by_queue(request: Request, context: Context, match: Match, steps: list[Step]) -> Explanation:
    jar = jar_of(request, context)
    for group in match.groups:
        found = identity.choose_within(group, request, context, jar)
        steps.append(_chosen(group, found, request))
        if not isinstance(found, str) and found.queue.id in match.exempt:
            steps.append(Step("exempt_here", {"queue": found.queue.id}))
        elif found == "refuse" or (not isinstance(found, str) and found.admission is None):
            break
    visitor = identity.choose(match, request, context)
    crawler = crawling(visitor, match, request, context)
    if crawler is not None:
        name = identity.crawler_of(crawler.queue, request, context)
        steps.append(Step("crawler", {"crawler": name, "queue": crawler.queue.id, "value": crawler.queue.crawlers}))
        if crawler.queue.crawlers == "pass":
            return Explanation("bypass", "", tuple(steps))
        return _by_state(crawler, request, context, steps, only_looks=True)
    if isinstance(visitor, str):
        refused = visitor == "refuse"
        return Explanation("refuse" if refused else "bypass", match.groups[0][0].id if refused else "", tuple(steps))
    only_looks = request.method in ("HEAD", "OPTIONS") or is_prefetch(request)
    return _by_state(visitor, request, context, steps, only_looks=only_looks)


def _chosen(group: Group, found: Visitor | identity.Turned, request: Request) -> Step:
    """How one rule's queues were told apart."""
    country = request.country
    if not isinstance(found, str):
        queue = found.queue
        if found.rank:
            return Step("by_token", {"queue": queue.id})
        if queue.countries is None:
            return Step("country_any", {"queue": queue.id})
        if country in queue.countries:
            return Step("country_named", {"queue": queue.id, "country": country})
        return _elsewhere(queue, country)
    if found == "refuse":
        key = "other_countries" if country else "unknown_country"
        return Step("country_refused", {"country": country or "an unknown country", "key": key})
    key = "other_countries" if country else "unknown_country"
    return _elsewhere(next(queue for queue in group if getattr(queue, key) == "pass"), country)


def _elsewhere(queue: Queue, country: str) -> Step:
    key = "other_countries" if country else "unknown_country"
    values = {"queue": queue.id, "key": key, "value": str(getattr(queue, key))}
    return Step("country_other", {**values, "country": country}) if country else Step("country_unknown", values)


def _by_state(visitor: Visitor, request: Request, context: Context, steps: list[Step], *, only_looks: bool) -> Explanation:
    queue = visitor.queue
    if queue.group:
        steps.append(Step("group", {"queue": queue.id, "group": queue.group}))
    if not only_looks and visitor.admission is None and visitor.place is None:
        if queue.visitor_key_required:
            steps.append(Step("account", {"queue": queue.id, "where": queue.visitor_key or ""}))
            if not is_given(queue.visitor_key or "", request, visitor.jar.others):
                return Explanation("hold", queue.id, (*steps, Step("sign_in")))
        if queue.proof_of_work_bits is not None:
            steps.append(Step("work", {"queue": queue.id, "bits": str(queue.proof_of_work_bits)}))
    view = at_hand(queue, request, context)
    if view is None:
        limits = _configured(queue)
        steps += [Step("limits", {"limits": limits})] if limits else []
        return Explanation("depends", queue.id, (*steps, Step("state_unknown")))
    snapshot = view.snapshot
    values = {"status": snapshot.status, "waiting": str(snapshot.waiting), "inside": str(snapshot.inside)}
    steps.append(Step("state", values))
    holding = _holding(queue, snapshot)
    steps += [Step("full", {"limits": holding})] if holding else []
    outcome, last = _outcome(visitor, snapshot, view.now_ms, only_looks=only_looks)
    if outcome == "admit" and any(step.code == "account" for step in steps):
        outcome = "depends"  # whether the word is good, the gate says that has the secret
    return Explanation(outcome, queue.id, (*steps, last))


def _outcome(visitor: Visitor, snapshot: Snapshot, now_ms: int, *, only_looks: bool) -> tuple[str, Step]:
    held, place, queue = visitor.admission, visitor.place, visitor.queue
    if held is not None:
        is_good = needs_nothing(held, snapshot, now_ms) and held.expires_ms > now_ms
        return ("admit", Step("pass_good")) if is_good else ("depends", Step("pass_asks"))
    if only_looks:
        return _newcomer(snapshot, only_looks=True)
    if place is not None:
        seat = seated(place, snapshot)
        if waits_on(seat, queue, snapshot, now_ms) is None:
            return "depends", Step("place_asks")
        return "hold", Step("waits", {"position": str(seat.position)})
    if visitor.candidate is not None and not gives_no_places(snapshot):
        return "depends", Step("candidate_asks")
    return _newcomer(snapshot, only_looks=False)


def _newcomer(snapshot: Snapshot, *, only_looks: bool) -> tuple[str, Step]:
    if snapshot.queueing == 0 and (only_looks or not gives_no_places(snapshot)):
        return "admit", Step("not_queueing")
    if gives_no_places(snapshot):
        return "hold", Step("no_places")
    if snapshot.queueing == 1 and not only_looks:
        return "depends", Step("queueing_soon")
    return "hold", Step("queueing")


def _configured(queue: Queue) -> str:
    caps = {name: getattr(queue, name) for name in ("admit_per_minute", "max_active", "inventory")}
    said = [f"{name} {value}" for name, value in caps.items() if value is not None]
    said += [name for name in ("manual", "always_queue") if getattr(queue, name)]
    said += ["opens_at"] if queue.opens_at_ms is not None else []
    return ", ".join(said)


def _holding(queue: Queue, snapshot: Snapshot) -> str:
    """The limits of which nothing is left, by their keys."""
    inside = snapshot.inside + snapshot.called
    said = [f"max_active {snapshot.max_active}"] if snapshot.max_active is not None and inside >= snapshot.max_active else []
    said += [f"admit_per_minute {snapshot.admit_per_minute}"] if snapshot.next_token_ms > 0 else []
    said += ["inventory"] if snapshot.inventory_left is not None and snapshot.inventory_left <= 0 else []
    return ", ".join([*said, *(name for name in ("manual", "always_queue") if getattr(queue, name))])
