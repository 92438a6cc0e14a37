"""The list of brands, and making a new one."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from starlette.requests import Request
from starlette.responses import RedirectResponse, Response
from starlette.routing import Route

from admin.access.actor import actor
from admin.access.forms import form_of
from admin.access.needs import needs
from admin.access.permissions import Permission
from admin.audit import audit
from admin.console.render import page
from admin.console.studio.view import by_field, framing, languages, studio
from admin.desk import desk
from admin.kv import KvError
from admin.publish.errors import PublishError
from admin.studio.content import BadContent
from admin.studio.studio import Sheet, UnknownBrand
from admin.words import _


@needs(Permission.SEE)
async def list_brands(request: Request) -> Response:
    """Every brand with a picture of its page."""
    return await _list(request)


@needs(Permission.EDIT_PAGES)
async def make(request: Request) -> Response:
    """A new brand, as a draft."""
    form = await form_of(request)
    brand, origin = form.get("brand", "").strip(), form.get("from", "")
    try:
        made = await studio(request).make(brand, origin, actor(request).name)
    except BadContent as error:
        return await _list(request, 422, typed=form, errors={"brand": error.problem})
    except UnknownBrand as error:
        return await _list(request, 422, typed=form, problem=str(error))
    await audit(request).record("brand.make", f"brand:{brand}", after={"from": origin or None})
    request.session["flash"] = _("%(brand)s is a draft now. Nobody sees it before it is published.") % {"brand": brand}
    return RedirectResponse(f"/pages/{made.brand}", 303)


async def _list(request: Request, status: int = 200, *, typed: Mapping[str, str] | None = None,
                errors: Mapping[str, str] | None = None, problem: str = "") -> Response:  # fmt: skip
    published = await desk(request).source.published()
    shown: dict[str, list[str]] = {}
    for queue in published.config.queues:
        shown.setdefault(queue.page, []).append(queue.id)
    store_problem, rows = "", []
    for sheet in await studio(request).sheets():
        row, problem_here = await _row(request, sheet, shown.get(sheet.brand, []))
        rows.append(row)
        store_problem = store_problem or problem_here
    return framing(page(
        request, "studio/brands.html", status, rows=rows, store_problem=store_problem, problem=problem,
        typed=by_field(typed or {}), errors=by_field(errors or {}), may_edit=actor(request).may(Permission.EDIT_PAGES),
    ))  # fmt: skip


async def _row(request: Request, sheet: Sheet, queues: list[str]) -> tuple[dict[str, Any], str]:
    values, in_force, problem = sheet.content.values, None, ""
    try:
        found = next((each for each in await studio(request).in_store(sheet.brand) if each.is_in_force), None)
        if found:
            in_force = {"version": found.number, "at": found.published_at_ms, "by": found.by}
    except (KvError, PublishError) as error:
        problem = str(error)
    chosen = values.get("languages")
    tongues = [name for name in chosen if name in languages()] if isinstance(chosen, list) else []
    row = {
        "brand": sheet.brand, "name": sheet.name, "mark": sheet.mark, "draft": sheet.draft,
        "published": in_force, "languages": tongues or list(languages()), "queues": queues[:6],
    }  # fmt: skip
    return row, problem


ROUTES = [Route("/pages", list_brands, methods=["GET"]), Route("/pages", make, methods=["POST"])]
