"""Redis over REST as a sandbox speaks it: the body of POST /pipeline, and its answer as a reply (Upstash's protocol)."""

from __future__ import annotations

from dataclasses import dataclass

from edge.core import quick_json
from edge.core.messages import Reply

# All batches of one decision together.
DECISION_BUDGET_MS = 800
# Exactly this content type: some bridges refuse one with a charset.
CONTENT_TYPE = "application/json"
# How Upstash says that a plan's rate or day limit is reached (its documentation, "Pricing & Limits").
_BUSY_TEXTS = ("ERR max requests limit exceeded", "ERR max daily request limit exceeded")
_SHOWN = 200
_OK, _TOO_MANY_REQUESTS = 200, 429


@dataclass(slots=True)
class Answered:
    """A reply, and what the log says of a failed one."""

    reply: Reply
    problem: str = ""


def failed(kind: str, problem: str) -> Answered:
    """No usable answer: "away" (no connection, or a broken answer), "slow" (none in time), "busy" (a rate limit)."""
    return Answered(Reply(failed=kind), problem)


def read_answer(status: int, content: bytes, count: int) -> Answered:
    """What the server said to `count` commands. Raises nothing: an answer that is none is a failure."""
    if status == _TOO_MANY_REQUESTS:
        return failed("busy", "HTTP status 429")
    try:
        told = quick_json.read(str(content, "utf-8"))
    except ValueError:
        return failed("away", f"HTTP status {status} and no JSON: {content[:_SHOWN]!r}")
    items = told if isinstance(told, list) else [told]
    errors = [str(item["error"]) for item in items if isinstance(item, dict) and "error" in item]
    if errors and any(limit in error for error in errors for limit in _BUSY_TEXTS):
        return failed("busy", errors[0][:_SHOWN])
    if status != _OK:
        return failed("away", f"HTTP status {status}: {content[:_SHOWN]!r}")
    if not isinstance(told, list) or len(told) != count or not all(map(_is_result, told)):
        return failed("away", f"an answer that is no list of {count} results: {content[:_SHOWN]!r}")
    return Answered(Reply(told))


def _is_result(item: object) -> bool:
    return isinstance(item, dict) and ("result" in item or "error" in item)
