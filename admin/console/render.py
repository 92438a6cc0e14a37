"""From a template to an answer."""

from __future__ import annotations

import json
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from jinja2 import Environment, FileSystemLoader, StrictUndefined, pass_context
from jinja2.runtime import Context
from starlette.requests import Request
from starlette.responses import HTMLResponse

from admin.access.actor import find_actor
from admin.access.forms import csrf_token
from admin.console.health import health_of
from admin.console.rooms import rooms_for
from admin.console.words import UNKNOWN, number
from admin.desk import desk
from admin.operate.moments import known_zone, shown
from admin.words import LANGUAGES, _, gettext, language, ngettext

TEMPLATES = Path(__file__).resolve().parents[2] / "templates" / "console"


def environment(folder: Path = TEMPLATES) -> Environment:
    """The console's templates: everything is escaped, an unknown name is an error."""
    env = Environment(
        loader=FileSystemLoader(folder), autoescape=True, undefined=StrictUndefined, trim_blocks=True, lstrip_blocks=True,
        extensions=["jinja2.ext.i18n"],
    )  # fmt: skip
    env.policies["ext.i18n.trimmed"] = True
    env.install_gettext_callables(gettext, ngettext, newstyle=True)  # type: ignore[attr-defined]
    env.filters["plain"] = plain
    env.filters["moment"] = lambda ms: _utc(ms / 1000).strftime("%Y-%m-%d %H:%M:%S UTC")
    env.filters["iso_ms"] = lambda ms: _utc(ms / 1000).isoformat(timespec="milliseconds").replace("+00:00", "Z")
    env.filters["iso"] = lambda at_s: _utc(at_s).isoformat(timespec="seconds").replace("+00:00", "Z")
    env.filters["clock"] = lambda at_s: _utc(at_s).strftime("%H:%M:%S")
    env.filters["when"] = _when
    env.filters["number"] = lambda value: f"{value:,}"
    return env


def page(request: Request, template: str, status: int = 200, **values: Any) -> HTMLResponse:
    """Renders a page. Every template knows who is signed in, what they may do, the form token, and what the step before said."""
    who = find_actor(request)
    flash = request.session.pop("flash", "") if who and status < 400 and template != "error.html" else ""
    html = desk(request).templates.get_template(template).render(
        who=who, rooms=rooms_for(who), may=who.may if who else _nothing, csrf=csrf_token(request), flash=flash,
        path=request.url.path, this_page=request.url.path if request.method == "GET" and status < 400 else "/",
        health=health_of(request), language=language(), languages=LANGUAGES, **values,
    )  # fmt: skip
    return HTMLResponse(html, status)


def _nothing(permission: str) -> bool:
    return False


def error_page(request: Request, status: int, headline: str, text: str, *, back: str = "/") -> HTMLResponse:
    """What happened and what to do."""
    return page(request, "error.html", status, headline=headline, text=text, back=back, code=status)


@pass_context
def _when(context: Context, at_ms: int) -> str:
    """A moment in the zone of who looks."""
    who = context.get("who")
    return shown(at_ms, known_zone(who.zone if who else ""))


def plain(value: Any) -> str:
    """A JSON value as a reader meets it: texts without quotes, lists with commas, a dash for nothing."""
    match value:
        case str():
            return value or UNKNOWN
        case None:
            return UNKNOWN
        case list():
            return ", ".join(plain(each) for each in value) or UNKNOWN
        case bool():
            return _("yes") if value else _("no")
        case int():
            return number(value)
        case _:
            return json.dumps(value, ensure_ascii=False)


def _utc(at_s: float) -> datetime:
    return datetime.fromtimestamp(at_s, UTC)
