"""From a template to an answer."""

from __future__ import annotations

from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from jinja2 import Environment, FileSystemLoader, StrictUndefined
from starlette.requests import Request
from starlette.responses import HTMLResponse

from admin.desk import desk
from admin.sessions import SignInNeeded, csrf_token

TEMPLATES = Path(__file__).resolve().parents[2] / "templates" / "console"


def environment(folder: Path = TEMPLATES) -> Environment:
    """The console's templates: everything is escaped, an unknown name is an error."""
    env = Environment(
        loader=FileSystemLoader(folder), autoescape=True, undefined=StrictUndefined, trim_blocks=True, lstrip_blocks=True
    )
    env.filters["iso"] = lambda at_s: _utc(at_s).isoformat(timespec="seconds").replace("+00:00", "Z")
    env.filters["clock"] = lambda at_s: _utc(at_s).strftime("%H:%M:%S")
    env.filters["number"] = lambda value: f"{value:,}"
    return env


def page(request: Request, template: str, status: int = 200, **values: Any) -> HTMLResponse:
    """Renders a page: who is signed in, the form token and a message of the step before are there for every template."""
    room = desk(request)
    try:
        operator = room.sessions.operator(request, room.unix_s(), touch=False).name
    except SignInNeeded:
        operator = ""
    flash = request.session.pop("flash", "") if operator and status < 400 and template != "error.html" else ""
    html = room.templates.get_template(template).render(
        operator=operator, csrf=csrf_token(request), flash=flash, path=request.url.path, **values
    )
    return HTMLResponse(html, status)


def error_page(request: Request, status: int, headline: str, text: str, *, back: str = "/") -> HTMLResponse:
    """What happened and what to do."""
    return page(request, "error.html", status, headline=headline, text=text, back=back, code=status)


def _utc(at_s: float) -> datetime:
    return datetime.fromtimestamp(at_s, UTC)
