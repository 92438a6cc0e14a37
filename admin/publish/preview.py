"""Every state, brand and language side by side, with made-up numbers; pages are rendered anew at each look.

For the machine of whoever works on the templates: the server listens on loopback and shows nothing but templates.
"""

from __future__ import annotations

import secrets
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from pathlib import Path

from jinja2 import Environment, PackageLoader, select_autoescape
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import HTMLResponse, JSONResponse, Response
from starlette.routing import Route

from admin.publish.catalogue import available_languages
from admin.publish.errors import PublishError
from admin.publish.languages import direction
from admin.publish.locales import own_name
from admin.publish.looks import LOOKS
from admin.publish.press import Press
from admin.publish.samples import BLOCKED, sample_status
from edge.core.pages import content_security_policy

# A page whose turn has come takes the focus; among forty others it would scroll there and keep the keyboard.
_NO_FOCUS = "if (top !== self) HTMLElement.prototype.focus = () => {};"
EVERY_LANGUAGE = "every language"
_INDEX = Environment(loader=PackageLoader("admin.publish", "."), autoescape=select_autoescape(["html"]), trim_blocks=True)


def brands(templates_dir: Path) -> list[str]:
    """The brands that there are."""
    return sorted(file.parent.name for file in templates_dir.glob("brands/*/brand.json"))


def application(templates_dir: Path) -> Starlette:
    """The preview as an ASGI application."""
    press = Press()

    def index(request: Request) -> Response:
        asked = request.query_params
        if unknown := _unknown(templates_dir, asked):
            return HTMLResponse(_error(unknown, "Not found"), 404)
        values = {
            "brands": brands(templates_dir), "languages": (languages := available_languages(templates_dir)), "looks": LOOKS,
            "names": {language: own_name(language) for language in languages},
            "brand": asked.get("brand", ""), "language": asked.get("language", "en"), "look": asked.get("look", ""),
            "scheme": asked.get("scheme", "light"), "width": asked.get("width", "390"), "message": asked.get("message", ""),
        }  # fmt: skip
        return HTMLResponse(_INDEX.get_template("preview.html.jinja").render(values))

    def page(request: Request) -> Response:
        where, nonce = request.path_params, secrets.token_urlsafe(16)
        if unknown := _unknown(templates_dir, where):
            return HTMLResponse(_error(unknown, "Not found"), 404)
        asks = "/status/candidate" if where["look"] == BLOCKED else ""
        job = {"what": "preview", "templates": str(templates_dir.resolve()), **where, "nonce": nonce, "status_url": asks,
               "message": request.query_params.get("message", "")}  # fmt: skip
        try:
            html = str(press.run(where["brand"], job)["page"])
        except (PublishError, ValueError) as error:
            return HTMLResponse(_error(str(error)), 500)
        quiet = f'<script nonce="{nonce}">{_NO_FOCUS}</script>'
        html = html.replace("<head>", f"<head>{quiet}", 1)
        return HTMLResponse(html, headers={"Content-Security-Policy": content_security_policy(nonce)})

    def status(request: Request) -> Response:
        return JSONResponse(sample_status(request.path_params["state"], poll_s=1))

    @asynccontextmanager
    async def until_the_end(app: Starlette) -> AsyncIterator[None]:
        with press:
            yield

    return Starlette(lifespan=until_the_end, routes=[
        Route("/", index), Route("/page/{brand}/{language}/{look}", page), Route("/status/{state}", status),
    ])  # fmt: skip


def _unknown(templates_dir: Path, asked: Mapping[str, str]) -> str:
    """Which brand, language or look is asked for that there is not, and which there are; empty if all are there."""
    languages = available_languages(templates_dir)
    there = {"brand": brands(templates_dir), "language": [*languages, EVERY_LANGUAGE], "look": list(LOOKS)}
    for name, known in there.items():
        if (wanted := asked.get(name, "")) and wanted not in known:
            return f"there is no {name} {wanted[:60]!r}: one of {', '.join(each for each in known if each != EVERY_LANGUAGE)}"
    return ""


def _error(text: str, title: str = "Not fit to be published") -> str:
    shown = text.replace("&", "&amp;").replace("<", "&lt;")
    return f'<!doctype html><html lang="en" dir="{direction("en")}"><title>{title}</title><pre>{shown}</pre>'
