"""What the pages of a brand have in common: the switches above the preview, who may what, and whose draft it is."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import lru_cache
from typing import Any
from urllib.parse import urlencode

from starlette.requests import Request
from starlette.responses import Response

from admin.access.actor import actor
from admin.access.permissions import Permission
from admin.console.render import page
from admin.desk import desk
from admin.kv import KvError
from admin.publish.catalogue import available_languages
from admin.publish.errors import PublishError
from admin.publish.languages import direction
from admin.publish.locales import own_name
from admin.publish.looks import LOOKS
from admin.publish.sources import TEMPLATES
from admin.publish.versions import Version
from admin.security import FRAMING_POLICY
from admin.state.brands import Draft
from admin.studio.studio import Sheet, Studio
from admin.words import N_, _

WIDTHS = ("320", "390", "768", "1280")
# Someone else's save is news for this long.
NEWS_MS = 600_000
_STATES = {
    "candidate": N_("Newcomer"), "waiting": N_("Waiting"), "called": N_("Called"), "paused": N_("Paused"),
    "prequeue": N_("Before the draw"), "not_open": N_("Not open yet"), "closed": N_("Closed"), "sold_out": N_("Sold out"),
    "maintenance": N_("Maintenance"), "lapsed": N_("Place lapsed"), "unavailable": N_("Trouble with the store"),
    "busy": N_("Busy"),
    "sign_in": N_("Sign in first"), "had_visit": N_("Visit had already"),
    "form": N_("Form not sent"), "ended": N_("Visit ended"), "blocked": N_("Cookies blocked"),
}  # fmt: skip


@dataclass(frozen=True)
class View:
    """What the preview shows."""

    state: str
    language: str
    width: str
    scheme: str

    @property
    def language_name(self) -> str:
        """In its own words."""
        return own_name(self.language)

    @property
    def dir(self) -> str:
        """Ltr or rtl."""
        return direction(self.language)

    @property
    def query(self) -> str:
        """To come back to the same view."""
        return "?" + urlencode({"state": self.state, "language": self.language, "width": self.width, "scheme": self.scheme})


def view_of(asked: Mapping[str, str], scheme: str = "scheme") -> View:
    """The view that a request asks for; what is unknown becomes the usual one. `scheme`: its name in a form that has another."""
    return View(
        _one(asked.get("state", ""), LOOKS, "waiting"), _one(asked.get("language", ""), languages(), "en"),
        _one(asked.get("width", ""), WIDTHS, "390"), _one(asked.get(scheme, ""), ("light", "dark"), "light"),
    )  # fmt: skip


@lru_cache(1)
def languages() -> tuple[str, ...]:
    """Those that the product has translations for."""
    return tuple(available_languages(TEMPLATES))


def look_word(state: str) -> str:
    """What a state of a page is called."""
    return _(_STATES.get(state, state))


def studio(request: Request) -> Studio:
    """The studio of this app."""
    return desk(request).studio


async def sheet_of(request: Request) -> Sheet:
    """The brand of the address. Raises UnknownBrand."""
    return await studio(request).sheet(request.path_params["brand"])


async def version_in_force(request: Request, brand: str) -> Version | None:
    """What visitors see, or None; also when the store cannot be asked."""
    try:
        return next((found for found in await studio(request).in_store(brand) if found.is_in_force), None)
    except (KvError, PublishError):
        return None


def others_news(request: Request, draft: Draft | None) -> Draft | None:
    """The draft, when somebody else saved it a short while ago."""
    if draft is None or draft.by == actor(request).name:
        return None
    return draft if desk(request).unix_s() * 1000 - draft.at_ms < NEWS_MS else None


async def show(request: Request, tab: str, sheet: Sheet, view: View, status: int = 200, **values: Any) -> Response:
    """Renders a tab of a brand."""
    who = actor(request)
    may_edit = who.may(Permission.EDIT_PAGES)
    shared = {
        "brand": sheet.brand, "name": sheet.name, "here": f"/pages/{sheet.brand}",
        "tab": tab, "draft": sheet.draft, "revision": sheet.revision, "mark": sheet.mark, "view": view, "query": view.query,
        "published": await version_in_force(request, sheet.brand), "other": others_news(request, sheet.draft),
        "may_edit": may_edit, "may_publish": who.may(Permission.PUBLISH_PAGES), "lock": "" if may_edit else " disabled",
        "looks": [(look, look_word(look)) for look in LOOKS], "tongues": [(name, own_name(name)) for name in languages()],
        "widths": [(width, f"{width} px") for width in WIDTHS], "schemes": [("light", _("Light")), ("dark", _("Dark"))],
        "problem": "", "conflict": "", "fault": "", "errors": by_field({}),
    }  # fmt: skip
    return framing(page(request, f"studio/{tab}.html", status, **{**shared, **values}))


def framing(answer: Response) -> Response:
    """A page that may show a preview in a frame."""
    answer.headers["Content-Security-Policy"] = FRAMING_POLICY
    return answer


class _Blank(dict[str, str]):
    """Errors by field; a field without one has an empty text."""

    def __missing__(self, key: str) -> str:
        return ""


def by_field(found: Mapping[str, str]) -> Mapping[str, str]:
    """The texts by field, with an empty one for each that has none."""
    return _Blank(found)


def number_of(text: str) -> int:
    """A revision or a version as a form sends it; -1, which none has, for what is no number."""
    return int(text) if text.isascii() and text.isdigit() and len(text) < 18 else -1


def _one(given: str, known: tuple[str, ...], usual: str) -> str:
    return given if given in known else usual
