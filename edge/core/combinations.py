"""Combinations of keys that cannot mean anything, each with what to do. What is not refused here has a meaning.

The meanings stand on the reference page that `cli/reference.py` writes. In a group the shared keys are the group's.
"""

from __future__ import annotations

import re
from collections.abc import Callable

from edge.core.errors import ConfigError
from edge.core.model import QUEUE_DEFAULTS, Queue
from edge.core.spelling import meaning_of_pattern

OWN_PREFIX = "/.stanchion/"
_HAS_OWN_PORT = re.compile(r"https://.*:443|http://.*:80").fullmatch


def _is_within(host: str, domain: str) -> bool:
    return f".{host.removeprefix('*.')}".endswith(f".{domain}")


def _is_ours(rule: str | None) -> bool:
    return rule is not None and rule.partition(":")[2].lower().startswith("stanchion-")


def _is_set(queue: Queue, name: str) -> bool:
    return bool(getattr(queue, name) != QUEUE_DEFAULTS[name])


_Combination = tuple[str, Callable[[Queue], bool], str]
_LIMITS: tuple[_Combination, ...] = (
    ("admit_per_minute",
     lambda q: not q.manual and not q.always_queue and q.admit_per_minute is q.max_active is q.inventory is None,
     "the queue has no limit at all; set admit_per_minute, max_active or inventory, or manual or always_queue"),
    ("burst", lambda q: q.burst is not None and q.admit_per_minute is None, "needs admit_per_minute"),
    ("start_queueing_above", lambda q: q.start_queueing_above is not None and q.manual,
     "means nothing with manual: then an operator calls everyone, however few they are"),
    ("start_queueing_above",
     lambda q: None not in (q.start_queueing_above, q.admit_per_minute) and q.start_queueing_above >= q.admit_per_minute,  # type: ignore[operator]
     "must be less than admit_per_minute: below it the rate does not count, and must not be needed"),
)  # fmt: skip
_SCHEDULE: tuple[_Combination, ...] = (
    ("prequeue_at", lambda q: q.prequeue_at_ms is not None and q.opens_at_ms is None, "needs opens_at, or it would never end"),
    ("prequeue_at", lambda q: None not in (q.prequeue_at_ms, q.opens_at_ms) and q.prequeue_at_ms >= q.opens_at_ms,  # type: ignore[operator]
     "must be before opens_at"),
    ("closes_at", lambda q: None not in (q.opens_at_ms, q.closes_at_ms) and q.opens_at_ms >= q.closes_at_ms,  # type: ignore[operator]
     "must be after opens_at"),
    ("prequeue_order", lambda q: q.prequeue_order is not None and q.prequeue_at_ms is None,
     "means nothing without prequeue_at and opens_at"),
    ("spread_s", lambda q: q.opens_at_ms is None and _is_set(q, "spread_s"), "means nothing without opens_at"),
    ("draw_beacon", lambda q: q.draw_beacon is not None and q.prequeue_order != "draw",
     "means nothing without a draw: set prequeue_at and opens_at, and prequeue_order to draw or null"),
)  # fmt: skip
_TIMERS: tuple[_Combination, ...] = (
    ("late_claim_within_s", lambda q: q.late_claim == "refused" and _is_set(q, "late_claim_within_s"),
     "means nothing while late_claim is refused"),
    ("late_share_percent", lambda q: q.late_claim != "head" and _is_set(q, "late_share_percent"),
     "means nothing unless late_claim is head"),
    ("poll_s", lambda q: 2 * q.poll_s > q.claim_within_s, "must be at most half of claim_within_s, or turns are missed"),
    ("renew_every_s", lambda q: q.renew_every_s >= q.idle_s, "must be less than idle_s, or passes end while they are used"),
    ("visit_max_s", lambda q: q.visit_max_s is not None and q.visit_max_s < q.idle_s,
     "must be at least idle_s, which could never end a visit otherwise; lower idle_s"),
    ("checkout_s", lambda q: None not in (q.checkout_s, q.visit_max_s) and q.checkout_s > q.visit_max_s,  # type: ignore[operator]
     "must be at most visit_max_s, which would end the visit before"),
    ("presence_grace_s", lambda q: q.presence_grace_s < q.settle_s, "must be at least settle_s, or the present count as absent"),
    ("settle_s", lambda q: q.settle_s < 2 * q.poll_s, "must be at least twice poll_s, or the present are passed over"),
)  # fmt: skip
_SITE: tuple[_Combination, ...] = (
    ("on_store_error", lambda q: q.on_store_error == "admit" and q.inventory is not None,
     "admit cannot keep an inventory; use hold"),
    ("on_store_error", lambda q: q.on_store_error == "admit" and q.store_error_admit_per_minute is None,
     "admit needs store_error_admit_per_minute"),
    ("store_error_admit_per_minute",
     lambda q: q.on_store_error == "hold" and q.store_error_admit_per_minute is not None,
     "means nothing while on_store_error is hold"),
    ("unknown_country", lambda q: q.countries is None and q.unknown_country != "refuse", "means nothing without countries"),
    ("other_countries", lambda q: q.countries is None and q.other_countries != "refuse", "means nothing without countries"),
    ("visitor_key_required", lambda q: q.visitor_key is None and q.visitor_key_required, "means nothing without visitor_key"),
    ("one_visit_per_key", lambda q: q.visitor_key is None and q.one_visit_per_key, "means nothing without visitor_key"),
    ("sign_in_url", lambda q: q.sign_in_url is not None and not q.visitor_key_required,
     "means nothing unless visitor_key_required is true: nobody has to sign in"),
    ("visitor_key", lambda q: _is_ours(q.visitor_key), "names that begin with stanchion- are the gate's own and never reach it"),
    ("allowed_origins", lambda q: any(map(_HAS_OWN_PORT, q.allowed_origins)),
     "leave out the port that the scheme has anyway (https :443, http :80), as browsers do"),
    ("cookie_domain", lambda q: q.cookie_domain is not None and q.same_site == "partitioned",
     "a partitioned cookie belongs to one host; leave cookie_domain out"),
    ("cookie_domain",
     lambda q: q.cookie_domain is not None and not all(_is_within(r.host, q.cookie_domain) for r in q.routes),
     "every route needs a host within it, or browsers refuse the cookie and nobody keeps a place"),
)  # fmt: skip
COMBINATIONS = (*_LIMITS, *_SCHEDULE, *_TIMERS, *_SITE)


def check_queue(queue: Queue, path: str, shared_path: str, shared: frozenset[str]) -> None:
    """Raises ConfigError for what cannot mean anything. `shared_path`: where the keys `shared` stand, when it is in a group."""
    for key, is_wrong, what_to_do in COMBINATIONS:
        if is_wrong(queue):
            raise ConfigError(f"{shared_path if key in shared else path}.{key}", what_to_do)
    for index, route in enumerate(queue.routes):
        _check_not_ours(route.path, f"{path}.routes[{index}].path")
    for key in ("bypass", "return_paths"):
        for index, pattern in enumerate(getattr(queue, key)):
            _check_not_ours(pattern, f"{path}.{key}[{index}]")
    _check_lanes(queue, path)


def _check_not_ours(pattern: str, path: str) -> None:
    meaning = meaning_of_pattern(pattern)
    if meaning.startswith(OWN_PREFIX) or meaning == OWN_PREFIX[:-1]:
        raise ConfigError(path, f"{pattern} never holds: the gate answers everything below {OWN_PREFIX} itself")


def _check_lanes(queue: Queue, path: str) -> None:
    if len(queue.lanes) == 1:
        raise ConfigError(f"{path}.lanes", "one lane is no lane; name two or more, the first for everybody, or leave lanes out")
    names: set[str] = set()
    for index, lane in enumerate(queue.lanes):
        where = f"{path}.lanes[{index}]"
        if lane.name in names:
            raise ConfigError(f"{where}.name", f"{lane.name} is the name of another lane of the queue")
        names.add(lane.name)
        has_way_in = lane.invite or lane.rule is not None
        if index == 0 and has_way_in:
            raise ConfigError(where, "the first lane is everybody's; invite and rule belong to the others")
        if index > 0 and not has_way_in:
            raise ConfigError(where, "nobody could ever enter it; set invite to true, or a rule")
        if _is_ours(lane.rule):
            raise ConfigError(f"{where}.rule", "names that begin with stanchion- are the gate's own and never reach it")
