"""An operator's steps on a queue: what each does, the text that two of them carry, and why the engine may refuse one."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Literal

from admin.limits import BadValue
from admin.queue_view import QueueView
from edge.core.moments import moment_text

Action = Literal["open", "resume", "pause", "drain", "close", "maintenance", "reset", "message", "beacon",
                 "pause_alone", "open_alone"]  # fmt: skip
PLAIN: Mapping[Action, str] = {
    "open": "Opens: ends a pause, a drain, a close, maintenance or a recovery; a queue that waits for its time opens now.",
    "resume": "The same as `open`, by its older name: calls people again, and ends a recovery at once.",
    "pause": "Stops calling people. Everybody keeps place, turn and pass; newcomers line up.",
    "drain": "Gives no new places. Those in line go on to be called.",
    "close": "Gives no new places and calls nobody. Places are kept; those inside are untouched.",
    "maintenance": "As `close`, with the page of a maintenance.",
    "pause_alone": "Pauses one queue of a group: nobody of it is called, whoever has a turn keeps it; the other queues go on.",
    "open_alone": "Ends `pause_alone`. What holds the whole group is ended by `open`.",
    "reset": "Begins a new line: every place and pass of the old one is void at once. Limits stay.",
}
# What the engine calls the two that concern one queue of a group.
ALONE: Mapping[Action, Literal["pause_lines", "open_lines"]] = {"pause_alone": "pause_lines", "open_alone": "open_lines"}
MESSAGE_MAX = 500
BEACON_MAX = 200
_OPEN_FIRST = "Open it first (POST /queues/{id}/open)"
_WHAT_NOW: Mapping[str, str] = {
    "recovering": "It calls again by itself; open ends the recovery at once",
    "not_open": "It opens by its schedule; open opens it now",
    "prequeue": "It opens by its schedule; open opens it now",
    "sold_out": "Raise the inventory first",
}


def check_text(name: Literal["text", "value"], given: Any) -> str:
    """The text of a message (may be empty: none) or the value of a beacon, trimmed. Raises BadValue."""
    most = MESSAGE_MAX if name == "text" else BEACON_MAX
    least = 0 if name == "text" else 1
    text = given.strip() if isinstance(given, str) else None
    if text is None or not least <= len(text) <= most or not text.isprintable():
        raise BadValue(name, f"must be one line of {least} to {most} characters")
    return text


def no_calls(status: str, view: QueueView) -> str:
    """Why nobody can be called in this state, and what to do. `view`: what is known of the queue now."""
    now = _WHAT_NOW.get(status, _OPEN_FIRST)
    if status == "paused" and view.paused_alone:
        return "the queue is paused by itself: nobody of it is called. Open it first (POST /queues/{id}/open_alone)"
    if status == "closed" and view.mode != "closed":
        now = "Its closes_at is past: publish a later one, or none"
    return f"{view.concerned_subject} {status}: nobody is called. {now}"


def refusal(action: Action, view: QueueView) -> str:
    """Why the engine refused a step, and what to do."""
    if action in ALONE:
        return f"{action} is for a queue of a group, and this one is in none: use {action.removesuffix('_alone')}"
    if action != "beacon":
        return f"{action} means nothing while the queue is {view.status}"
    if view.opens_at_ms is None:
        return "the queue has no opens_at, so there is no draw that a beacon could be mixed into"
    if view.beacon and not view.opened_at_ms:
        return (
            f"the value of the beacon is {view.beacon!r} already, and the first one that is told counts; another changes nothing."
            " The next request that an edge gets draws the order and opens the queue. A queue that was reset takes a new value"
        )
    if view.opened_at_ms:
        return f"the queue opened at {moment_text(view.opened_at_ms)}: its order stands, and a beacon changes it no more"
    return (
        f"a beacon counts from opens_at ({moment_text(view.opens_at_ms)}) on: until then people can still join, and the number"
        " of arrivals must be fixed before its value is known. Send it then"
    )
