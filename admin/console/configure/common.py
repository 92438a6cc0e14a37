"""What the pages of the settings share: their tabs, the forms that they read, and changes in the language of the reader."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from starlette.requests import Request
from starlette.responses import HTMLResponse

from admin.access.actor import actor
from admin.access.forms import check_form
from admin.access.permissions import Permission, roles_with
from admin.bodies import read_pairs
from admin.configure import labels
from admin.configure.changes import WORDS, Change, shown
from admin.configure.sections import field_of
from admin.configure.zones import UTC_NAME, local_text
from admin.console.render import page
from admin.words import N_, gettext, ngettext
from edge.core.moments import moment_text

HOME = "/configuration"
FORM_MAX_BYTES = 6_000_000  # a configuration of two million bytes, percent-encoded
FORM_MAX_FIELDS = 5_000
TOLD_AT_MOST = 6
TOLD_AT_MOST_CHARACTERS = 1_200  # it travels in the cookie of the session
TABS: Sequence[tuple[str, str]] = (
    (HOME, N_("Queues and groups")),
    (f"{HOME}/explain", N_("Try an address")),
    (f"{HOME}/history", N_("History")),
    (f"{HOME}/json", N_("As JSON")),
    (f"{HOME}/transfer", N_("Import and export")),
)


@dataclass(frozen=True)
class Form:
    """A form of ours. `first`: the first value of each name; `typed`: all of them."""

    first: Mapping[str, str]
    typed: Mapping[str, Sequence[str]] = field(default_factory=dict)

    def get(self, name: str, default: str = "") -> str:
        """The first value of a name."""
        return self.first.get(name, default)


async def form_of(request: Request) -> Form:
    """Reads a form of ours. Raises Forged, BadBody."""
    pairs = await read_pairs(request, FORM_MAX_BYTES, FORM_MAX_FIELDS)
    first = dict(reversed(pairs))
    check_form(request, first)
    typed: dict[str, list[str]] = {}
    for name, value in pairs:
        typed.setdefault(name, []).append(value)
    return Form(first, typed)


def zone_for(request: Request) -> str:
    """The time zone of who asks."""
    return actor(request).zone or UTC_NAME


def show(request: Request, template: str, tab: str, status: int = 200, **values: Any) -> HTMLResponse:
    """A page of the settings, with its tabs and what its reader may do."""
    may_change = actor(request).may(Permission.CONFIGURE)
    why_not = "" if may_change else gettext("Your role may look, not change. Roles that may: %(roles)s.") % {
        "roles": ", ".join(roles_with(Permission.CONFIGURE))
    }  # fmt: skip
    return page(
        request, f"configure/{template}", status, tabs=[(path, gettext(name)) for path, name in TABS], tab=tab,
        may_change=may_change, why_not=why_not, **values,
    )  # fmt: skip


def spoken(change: Change) -> str:
    """A change as a sentence in the language of the reader, with the names that the form has."""
    values = dict(change.values)
    known = field_of(change.target.partition(":")[0], change.key) if change.code.endswith("_key") else None
    if known is not None:
        values["key"] = labels.label(known)
    for name in ("before", "after"):
        if values[name] == shown(None):
            values[name] = gettext("none")
    return gettext(WORDS[change.code]) % values


def told(changes: Iterable[Change]) -> str:
    """What changed, as one text for the line above a page."""
    sentences = [spoken(change) for change in changes]
    more = len(sentences) - TOLD_AT_MOST
    if more > 0:
        sentences = [*sentences[:TOLD_AT_MOST], ngettext("And %(count)s more.", "And %(count)s more.", more) % {"count": more}]
    text = " ".join(sentences)
    return text if len(text) <= TOLD_AT_MOST_CHARACTERS else text[:TOLD_AT_MOST_CHARACTERS] + "…"


def moment_in(at_ms: int, zone: str) -> str:
    """A moment in the reader's zone."""
    return f"{local_text(moment_text(at_ms), zone).replace('T', ' ')} {zone}"
