"""Every state, brand and language side by side, with made-up numbers; pages are rendered anew at each look.

For the machine of whoever works on the templates: the server listens on loopback and shows nothing but templates.
"""

from __future__ import annotations

import secrets
from pathlib import Path

from jinja2 import Environment, PackageLoader, select_autoescape
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import HTMLResponse, JSONResponse, Response
from starlette.routing import Route

from admin.publish.brand import load_brand
from admin.publish.catalogue import available_languages
from admin.publish.checks import check_page
from admin.publish.errors import PublishError
from admin.publish.languages import direction
from admin.publish.locales import own_name
from admin.publish.render import render_pages
from admin.publish.samples import BLOCKED, sample_page, sample_status, sample_values
from edge.core.pages import STATES, compile_page, content_security_policy

#: What can be looked at: the states with a page, and two that share one.
LOOKS = ("candidate", *STATES, BLOCKED)
_STILL_POLL_S = "3600"  # nothing behind the pages moves
_INDEX = Environment(loader=PackageLoader("admin.publish", "."), autoescape=select_autoescape(["html"]), trim_blocks=True)


def brands(templates_dir: Path) -> list[str]:
    """The brands that there are."""
    return sorted(file.parent.name for file in templates_dir.glob("brands/*/brand.json"))


def preview_page(templates_dir: Path, brand: str, language: str, look: str, nonce: str, message: str = "") -> str:
    """One page, rendered, checked and filled. Raises PublishError."""
    if look not in LOOKS:
        raise PublishError(look, 0, f"no state of a page: one of {', '.join(LOOKS)}")
    state = sample_page(look)
    offered = available_languages(templates_dir)
    page = render_pages(load_brand(brand, templates_dir), language, templates_dir, (state,), offered)[state]
    check_page(f"{brand}/{language}/{state}", page, state, language)
    shown = "candidate" if look == BLOCKED else look
    status_url = f"/status/{shown}" if look == BLOCKED else ""
    values = sample_values(shown, nonce=nonce, poll_s="1" if look == BLOCKED else _STILL_POLL_S, retry_s=_STILL_POLL_S,
                           status_url=status_url, message=message)  # fmt: skip
    return compile_page(page).fill(values)


def application(templates_dir: Path) -> Starlette:
    """The preview as an ASGI application."""

    def index(request: Request) -> Response:
        asked = request.query_params
        values = {
            "brands": brands(templates_dir), "languages": (languages := available_languages(templates_dir)), "looks": LOOKS,
            "names": {language: own_name(language) for language in languages},
            "brand": asked.get("brand", ""), "language": asked.get("language", "en"), "look": asked.get("look", ""),
            "scheme": asked.get("scheme", "light"), "width": asked.get("width", "390"), "message": asked.get("message", ""),
        }  # fmt: skip
        return HTMLResponse(_INDEX.get_template("preview.html.jinja").render(values))

    def page(request: Request) -> Response:
        where, nonce = request.path_params, secrets.token_urlsafe(16)
        try:
            html = preview_page(templates_dir, where["brand"], where["language"], where["look"], nonce,
                                request.query_params.get("message", ""))  # fmt: skip
        except (PublishError, ValueError) as error:
            return HTMLResponse(_error(str(error)), 500)
        return HTMLResponse(html, headers={"Content-Security-Policy": content_security_policy(nonce)})

    def status(request: Request) -> Response:
        return JSONResponse(sample_status(request.path_params["state"], poll_s=1))

    return Starlette(routes=[
        Route("/", index), Route("/page/{brand}/{language}/{look}", page), Route("/status/{state}", status),
    ])  # fmt: skip


def _error(text: str) -> str:
    shown = text.replace("&", "&amp;").replace("<", "&lt;")
    return f'<!doctype html><html lang="en" dir="{direction("en")}"><title>Not fit to be published</title><pre>{shown}</pre>'
