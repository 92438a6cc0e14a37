"""What the gate does with the origin's answer: its own cookies, and the origin's word that a visit is over.

A cookie is added only to an answer that no shared cache may store (RFC 9111, section 3); the origin's own headers stay as
they are. An answer that says nothing of caching gets `Cache-Control: private` beside the cookie.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass

from edge.core import commands, identity
from edge.core.asking import script_random
from edge.core.commands import Call, EndReason
from edge.core.cookies import expire_cookie
from edge.core.messages import Context, Request
from edge.core.model import Queue
from edge.core.tokens import Pass

Headers = Sequence[tuple[str, str]]
ANSWER_HEADERS = ("cache-control", "cdn-cache-control", "surrogate-control", "expires", "age", "x-cache", "stanchion-command")
UNITS_AT_MOST = 10_000


@dataclass(frozen=True)
class Conclusion:
    """Headers to append, and calls to send; `note` says in words what was ignored and why."""

    headers: tuple[tuple[str, str], ...] = ()
    calls: tuple[Call, ...] = ()
    note: str = ""


def write_context(queue: Queue, held: Pass, set_cookies: tuple[str, ...], *, fresh: bool) -> str:
    """What `conclude` has to know about a forward, as one line."""
    value = [queue.id, held.epoch, held.visitor, held.position, int(fresh), list(set_cookies)]
    return json.dumps(value, separators=(",", ":"))


def _values(headers: Headers, name: str) -> list[str]:
    return [value for key, value in headers if key.lower() == name]


def _directives(headers: Headers, name: str) -> dict[str, str]:
    found: dict[str, str] = {}
    for value in _values(headers, name):
        for item in value.split(","):
            key, _, argument = item.strip().partition("=")
            found[key.lower()] = argument.strip('"')
    return found


def _is_positive(text: str) -> bool:
    return text.isdigit() and int(text) > 0


def shared_storage(method: str, headers: Headers) -> str:
    """Whether a shared cache may store the answer: "no", "unsaid" (it might, by rule of thumb), or "yes"."""
    if method not in ("GET", "HEAD"):
        return "no"
    for name in ("cdn-cache-control", "surrogate-control"):
        targeted = _directives(headers, name)
        if any(_is_positive(targeted.get(key, "")) for key in ("max-age", "s-maxage")) and "no-store" not in targeted:
            return "yes"
    said = _directives(headers, "cache-control")
    # `private="Set-Cookie"` and the like keep only the named fields out of the store.
    if "no-store" in said or said.get("private", "x") == "":
        return "no"
    explicit = "public" in said or any(_is_positive(said.get(key, "")) for key in ("s-maxage", "max-age"))
    return "yes" if explicit or (_values(headers, "expires") and "max-age" not in said and "no-cache" not in said) else "unsaid"


def _came_from_cache(headers: Headers) -> bool:
    return any(_is_positive(age) for age in _values(headers, "age")) or any(
        "hit" in value.lower() for value in _values(headers, "x-cache")
    )


def _command(headers: Headers) -> tuple[EndReason, int] | str | None:
    """The origin's command, None if there is none, or in words why it is ignored."""
    values = _values(headers, "stanchion-command")
    if not values:
        return None
    if _came_from_cache(headers):
        return "a command in an answer out of a cache"
    verb, _, rest = values[0].partition(";")
    name, _, number = rest.strip().partition("=")
    units = int(number) if name.strip() == "units" and _is_positive(number.strip()) else 1
    if verb.strip() == "revoke":
        return "revoked", 0
    if verb.strip() == "complete":
        return "completed", min(units, UNITS_AT_MOST)
    return f"an unknown command: {verb.strip()[:40]!r}; known are revoke and complete"


def _who(request: Request, line: str, context: Context) -> tuple[Queue, Pass, bool, tuple[str, ...]] | None:
    if line:
        queue_id, epoch, visitor, position, fresh, set_cookies = json.loads(line)
        queue = context.config.queue(queue_id)
        return (queue, Pass(queue_id, epoch, visitor, position, 0, 0), bool(fresh), tuple(set_cookies)) if queue else None
    match = context.router.match(request.host, request.target, request.method)
    found = identity.choose(match, request, context) if match else "pass"
    if isinstance(found, str) or found.admission is None:
        return None
    return found.queue, found.admission, False, ()


def conclude(request: Request, line: str, status: int, headers: Headers, context: Context) -> Conclusion:
    """Reads the origin's answer (`headers` by lower-case name). `line`: the context of the forward, or empty."""
    who = _who(request, line, context)
    if who is None:
        return Conclusion(note="no pass stands behind this answer" if _values(headers, "stanchion-command") else "")
    queue, held, fresh, set_cookies = who
    random = script_random(request)
    calls: tuple[Call, ...] = ()
    command, note = _command(headers), ""
    if isinstance(command, str):
        note = command
    elif command is not None:
        reason, units = command
        if held.epoch:
            calls = (commands.end(queue.scope, held.epoch, held.position, held.visitor, reason, random, units=units),)
        set_cookies = (expire_cookie(queue, request.scheme),)
    if not set_cookies:
        return Conclusion((), calls, note)
    storage = shared_storage(request.method, headers)
    if storage == "yes":
        if fresh and not calls and held.epoch:
            # The pass cannot reach the visitor, so the slot is given back.
            calls = (commands.end(queue.scope, held.epoch, held.position, held.visitor, "undelivered", random),)
        return Conclusion((), calls, note or "an answer for shared caches carries no cookie of ours")
    private = (("Cache-Control", "private"),) if storage == "unsaid" else ()
    return Conclusion((*private, *(("Set-Cookie", cookie) for cookie in set_cookies)), calls, note)
