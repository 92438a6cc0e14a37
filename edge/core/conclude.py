"""What the gate does with the origin's answer: its own cookies, and the origin's word that a visit is over.

A cookie is added only to an answer that no shared cache may store (RFC 9111, section 3); the origin's own headers stay as
they are. An answer that says nothing of caching gets `Cache-Control: private` beside the cookie.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Literal

from edge.core import commands, identity, quick_json
from edge.core.asking import script_random
from edge.core.calls import Call
from edge.core.commands import EndReason
from edge.core.cookies import expire_cookie
from edge.core.messages import Context, Request
from edge.core.model import Queue
from edge.core.token_header import handed
from edge.core.tokens import Pass

Headers = Sequence[tuple[str, str]]
ANSWER_HEADERS = (
    "cache-control", "cdn-cache-control", "surrogate-control", "expires", "age", "x-cache", "cache-status", "stanchion-command",
)  # fmt: skip
UNITS_AT_MOST = 10_000
NOT_MODIFIED = 304
_SPEAKS_OF_CACHES = frozenset(("cache-control", "cdn-cache-control", "surrogate-control", "expires"))


@dataclass(slots=True)
class Conclusion:
    """Headers to append, and calls to send; `note` says in words what was ignored and why.

    `event`: what the log calls that; `malformed command`: the site's engineer has to mend something.
    """

    headers: tuple[tuple[str, str], ...] = ()
    calls: tuple[Call, ...] = ()
    note: str = ""
    event: Literal["answer ignored", "malformed command"] = "answer ignored"


def write_context(queue: Queue, held: Pass, set_cookies: tuple[str, ...], *, fresh: bool) -> str:
    """What `conclude` has to know about a forward, as one line."""
    value = [queue.id, held.epoch, held.visitor, held.position, held.line, int(fresh), list(set_cookies)]
    return quick_json.write(value)


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
    """Whether this is a number above zero, as headers write it; a number of any length, and never a "²"."""
    text = text.partition("+")[0]  # Surrogate-Control: max-age=60+30
    return text.isascii() and text.isdigit() and bool(text.strip("0"))


def shared_storage(method: str, status: int, headers: Headers) -> str:
    """Whether a shared cache may store the answer: "no", "unsaid" (it might, by rule of thumb), or "yes"."""
    if method not in ("GET", "HEAD"):
        return "no"
    said_at_all = {name.lower() for name, _ in headers}
    if not said_at_all & _SPEAKS_OF_CACHES:
        return "yes" if status == NOT_MODIFIED else "unsaid"
    for name in ("cdn-cache-control", "surrogate-control"):
        targeted = _directives(headers, name)
        if "no-store" not in targeted and "private" not in targeted and _asks_for_storage(targeted):
            return "yes"
    said = _directives(headers, "cache-control")
    # `private="Set-Cookie"` and the like keep only the named fields out of the store.
    if "no-store" in said or said.get("private", "x") == "":
        return "no"
    # A 304 changes the headers of an answer that was stored before, and that one may be anybody's.
    if _asks_for_storage(said) or status == NOT_MODIFIED:
        return "yes"
    is_kept_until = _values(headers, "expires") and "max-age" not in said and "no-cache" not in said
    return "yes" if is_kept_until else "unsaid"


def _asks_for_storage(said: Mapping[str, str]) -> bool:
    return "public" in said or any(_is_positive(said.get(key, "")) for key in ("s-maxage", "max-age"))


def _came_from_cache(headers: Headers) -> bool:
    if any(_is_positive(age.strip()) for age in _values(headers, "age")):
        return True
    # `HIT from proxy`, `TCP_MEM_HIT from a1`, `Hit from cloudfront`: the first word; a host's name after it says nothing.
    words = (item.split()[0] for value in _values(headers, "x-cache") for item in value.split(",") if item.strip())
    if any("hit" in word.lower() for word in words):
        return True
    # RFC 9211: `ExampleCache; hit`.
    said = ";".join(_values(headers, "cache-status")).replace(",", ";").lower()
    return any(part.strip() in ("hit", "hit=?1") for part in said.split(";"))


# What the origin may say, and which parameters that has.
_PARAMETERS: Mapping[str, tuple[str, ...]] = {"revoke": (), "checkout": ("extend",), "complete": ("units",)}


@dataclass(slots=True)
class _Command:
    """What the origin wants of the visit; `note`: what of it was not understood. Without a reason the visit goes on.

    `checkout`: the payment begins ("start"), or gets its time once more ("extend").
    """

    reason: EndReason | None
    units: int = 0
    note: str = ""
    checkout: Literal["", "start", "extend"] = ""
    is_malformed: bool = False


def _command(headers: Headers) -> _Command:
    values = _values(headers, "stanchion-command")
    if not values:
        return _Command(None)
    if _came_from_cache(headers):
        return _Command(None, note="a command in an answer out of a cache")
    verb, *given = (part.strip() for part in values[0].lower().split(";"))
    known = _PARAMETERS.get(verb)
    if known is None:
        return _malformed(_Command(None), f"an unknown command: {verb[:40]!r}; known are checkout, complete and revoke")
    told = {name.strip(): value.strip() for name, _, value in (part.partition("=") for part in given if part)}
    command = _command_of(verb, told)
    unknown = [name for name in told if name not in known]
    if unknown and not command.note:
        return _malformed(command, f"{verb} with {unknown[0][:40]!r}, which it does not know and leaves out")
    if len(values) > 1 and not command.note:
        return _malformed(command, f"{len(values)} commands in one answer; only the first one counts: {verb}")
    return command


def _malformed(command: _Command, note: str) -> _Command:
    return replace(command, note=note, is_malformed=True)


def _command_of(verb: str, told: Mapping[str, str]) -> _Command:
    if verb == "revoke":
        return _Command("revoked")
    if verb == "checkout":
        return _Command(None, checkout="extend" if "extend" in told else "start")
    number = told.get("units", "1")
    if not _is_positive(number) or len(number) > len(str(UNITS_AT_MOST)) or int(number) > UNITS_AT_MOST:
        # The sale is over in any case; a slot kept for it would help nobody.
        note = f"units of {number[:40]!r}, taken for 1: a number from 1 to {UNITS_AT_MOST} is allowed"
        return _malformed(_Command("completed", 1), note)
    return _Command("completed", int(number))


def _who(request: Request, line: str, context: Context) -> tuple[Queue, Pass, bool, tuple[str, ...]] | None:
    if line:
        queue_id, epoch, visitor, position, at, fresh, set_cookies = quick_json.read(line)
        queue = context.config.queue(queue_id)
        if queue is None:
            return None
        return queue, Pass(queue.scope, epoch, visitor, position, 0, 0, line=at), bool(fresh), tuple(set_cookies)
    match = context.router.match(request.host, request.target, request.method)
    found = identity.choose(match, request, context) if match else "pass"
    if isinstance(found, str) or found.admission is None:
        return None
    return found.queue, found.admission, False, ()


def _end(queue: Queue, held: Pass, reason: EndReason, request: Request, units: int = 1) -> Call:
    """The end of a visit. By header the site only reports: what it sold is sold, and more than was free is an overrun."""
    return commands.end(queue.scope, held.epoch, held.position, held.visitor, reason, script_random(request), line=held.line,
                        units=units, is_report=reason == "completed")  # fmt: skip


def _paying(queue: Queue, held: Pass, request: Request, context: Context) -> str:
    """The pass of someone who pays: good for the whole time, for they may make no request meanwhile; renewed as ever."""
    now_ms = context.now_ms(request, queue.scope)
    renew_at_ms, expires_ms = now_ms + queue.renew_every_s * 1000, now_ms + max(queue.checkout_s or 0, queue.renew_every_s) * 1000
    paying = replace(held, renew_at_ms=renew_at_ms, expires_ms=expires_ms)
    context.granted.remember(paying)
    return identity.pass_cookie(queue, request, context, paying)


def conclude(request: Request, line: str, status: int, headers: Headers, context: Context) -> Conclusion:
    """Reads the origin's answer (`headers` by lower-case name). `line`: the context of the forward, or empty."""
    command = _command(headers)
    concluded = _conclude(request, line, status, headers, context, command)
    return replace(concluded, event="malformed command") if command.is_malformed else concluded


def _conclude(request: Request, line: str, status: int, headers: Headers, context: Context, command: _Command) -> Conclusion:
    who = _who(request, line, context)
    if who is None:
        none = "no pass stands behind this answer" if _values(headers, "stanchion-command") else ""
        return Conclusion(note=command.note or none)
    queue, held, fresh, set_cookies = who
    calls: tuple[Call, ...] = ()
    note = command.note
    if command.reason is not None:
        context.granted.forget(held)
        if held.epoch:
            calls = (_end(queue, held, command.reason, request, command.units),)
        set_cookies = (expire_cookie(queue, request.scheme),)
    elif command.checkout and queue.checkout_s is None:
        note = "a checkout command, but the queue has no checkout_s"
    elif command.checkout and held.epoch:
        calls = (commands.checkout(queue.scope, held.epoch, held.position, held.visitor, command.checkout, script_random(request),
                                   line=held.line),)  # fmt: skip
        set_cookies = (_paying(queue, held, request, context),)
    if not set_cookies:
        return Conclusion((), calls, note)
    storage = shared_storage(request.method, status, headers)
    if storage == "yes":
        if fresh and command.reason is None and held.epoch:
            # The pass cannot reach the visitor, so the slot is given back.
            context.granted.forget(held)
            calls = (_end(queue, held, "undelivered", request),)
        return Conclusion((), calls, note or "an answer for shared caches carries no cookie of ours")
    private = (("Cache-Control", "private"),) if storage == "unsaid" else ()
    return Conclusion((*private, *handed(request, set_cookies)), calls, note)
