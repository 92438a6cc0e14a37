"""Who may enter which lane: by the site's word (edge/core/vouching.py), whose claim `lane` names it; or by an invitation."""

from __future__ import annotations

from collections.abc import Iterable

from edge.core.messages import Request
from edge.core.model import Queue
from edge.core.vouching import word


def vouched_line(queue: Queue, request: Request, cookie: str, secret: str) -> int | None:
    """The line that the site vouches for, the first lane of the queue whose rule holds; None when there is none.

    `cookie`: the Cookie header without ours. `secret`: of `vouching.secret_name`, or empty.
    """
    for index, lane in enumerate(queue.lanes):
        if lane.rule is not None and word(lane.rule, request, cookie, secret).get("lane") == lane.name:
            return queue.line + index
    return None


def has_rules(queue: Queue) -> bool:
    """Whether any lane of the queue is entered by the site's word."""
    return any(lane.rule is not None for lane in queue.lanes)


def rule_headers(queues: Iterable[Queue]) -> set[str]:
    """The headers in which sites may vouch for visitors of these queues, by lower-case name."""
    rules = (rule for queue in queues for rule in (queue.visitor_key, *(lane.rule for lane in queue.lanes)) if rule is not None)
    return {rule.removeprefix("header:").lower() for rule in rules if rule.startswith("header:")}
