"""What a site may say of a visit from its own server, with the pass that its request carried (header Stanchion-Pass).

The same steps that `Stanchion-Command` takes in an answer, but the site hears what became of it, and more units than are free are
refused instead of counted as an overrun. Every step may be repeated: a visit ends once.
"""

from __future__ import annotations

import secrets
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, Literal

from admin.keys import needed
from admin.operations import START_FIRST, Operations, Refused
from admin.store import Store
from edge.core import calls, commands
from edge.core.calls import Answer
from edge.core.commands import EndReason
from edge.core.errors import TokenError
from edge.core.keyring import Keyring
from edge.core.model import Queue
from edge.core.moments import moment_text
from edge.core.tokens import Pass, read_origin_pass

Verb = Literal["complete", "revoke", "checkout", "extend"]
VERBS: tuple[Verb, ...] = ("complete", "revoke", "checkout", "extend")
# A pass may come from an edge whose clock runs a little ahead or behind.
CLOCKS_DIFFER_S = 5
_WHY_NO_CHECKOUT: Mapping[str, str] = {
    "no_checkout": "the queue has no checkout_s, so there is no checkout to begin",
    "not_started": "the checkout has not begun: send checkout first",
    "extended": "the checkout was extended once already",
}


class VisitRefused(Exception):
    """A step that was not taken. `status` of the answer, `code` for programs, `members` beside them; the text says why."""

    def __init__(self, status: int, code: str, why: str, **members: Any) -> None:
        super().__init__(why)
        self.status = status
        self.code = code
        self.members = members


@dataclass(frozen=True)
class Said:
    """What became of a step: `outcome` in one word, and for a checkout its times (RFC 3339, UTC)."""

    queue: str
    action: Verb
    outcome: str
    times: Mapping[str, str] = field(default_factory=dict)

    def public(self) -> dict[str, Any]:
        """As the API answers it."""
        times = {name: self.times.get(name) for name in ("ends_at", "expires_at", "renew_at")}
        return {"queue": self.queue, "action": self.action, "outcome": self.outcome, **times}


class Visits:
    """Takes the steps. `unix_s` is the clock that passes are compared with; `ring` None: they cannot be read."""

    def __init__(self, operations: Operations, store: Store, ring: Keyring | None, unix_s: Callable[[], float]) -> None:
        self._operations = operations
        self._store = store
        self._ring = ring
        self._unix_s = unix_s

    async def say(self, queue_id: str, pass_text: str, verb: Verb, units: int = 1) -> Said:
        """One step on the visit that a pass names.

        Raises UnknownQueue, NoKeys, StoreUnavailable; VisitRefused for a bad pass and for what the queue refuses; Refused when
        Redis has no state for the queue.
        """
        queue = await self._operations.configured(queue_id)
        held = self._held(queue, pass_text)
        answer = await self._store.run(_call(queue, held, verb, units))
        return _said(queue, verb, answer, units)

    def _held(self, queue: Queue, text: str) -> Pass:
        ring = needed(self._ring)
        if not text:
            raise VisitRefused(400, "no_pass", "this needs the header Stanchion-Pass, as the site's request carried it")
        try:
            held = read_origin_pass(ring, text, queue)
        except TokenError as error:
            raise VisitRefused(400, "bad_pass", f"the pass is not good for this queue: {error}") from None
        if held.expires_ms <= (self._unix_s() - CLOCKS_DIFFER_S) * 1000:
            ended = moment_text(held.expires_ms)
            raise VisitRefused(400, "expired_pass", f"the pass ran out at {ended}; send the one of the visitor's latest request")
        if not held.epoch:
            raise VisitRefused(409, "no_visit", "the visitor was let in while Redis was away: there is no visit to act on")
        return held


def _call(queue: Queue, held: Pass, verb: Verb, units: int) -> calls.Call:
    random = secrets.token_hex(16)
    if verb in ("checkout", "extend"):
        step: Literal["start", "extend"] = "start" if verb == "checkout" else "extend"
        return commands.checkout(queue.scope, held.epoch, held.position, held.visitor, step, random, line=held.line)
    reason: EndReason = "completed" if verb == "complete" else "revoked"
    return commands.end(queue.scope, held.epoch, held.position, held.visitor, reason, random, line=held.line, units=units)


def _said(queue: Queue, verb: Verb, answer: Answer, units: int) -> Said:
    match answer.verdict:
        case "freed" | "late" | "already" | "left":
            return Said(queue.id, verb, answer.verdict)
        case "checkout":
            times = {name: moment_text(answer.number(index)) for index, name in enumerate(("ends_at", "expires_at", "renew_at"))}
            return Said(queue.id, verb, "checkout", times)
        case "conflict":
            free = answer.number(0)
            why = f"{units:,} units were asked for and {free:,} are free for this visit; nothing is changed"
            raise VisitRefused(409, "reclaimed", why, free_units=free)
        case "refused":
            code = answer.details[0] if answer.details else "refused"
            raise VisitRefused(409, code, _WHY_NO_CHECKOUT.get(code, "the queue refuses this now"))
        case "ended":
            raise VisitRefused(410, "ended", "the visit has ended, so there is nothing to pay for in time")
        case "epoch":
            raise VisitRefused(410, "ended", "the visit was of a line that a reset has ended")
        case _:
            raise Refused(START_FIRST)
