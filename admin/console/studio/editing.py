"""Editing a brand: its look, its words, its source and its pictures; and the page beside it."""

from __future__ import annotations

import re
import secrets
from collections.abc import Mapping
from typing import Any

from starlette.requests import Request
from starlette.responses import HTMLResponse, JSONResponse, RedirectResponse, Response
from starlette.routing import Route

from admin.access.actor import actor
from admin.access.forms import check_form, form_of
from admin.access.needs import needs
from admin.access.permissions import Permission
from admin.bodies import BadBody, read_form
from admin.console.studio import fields, messages
from admin.console.studio.view import View, by_field, languages, number_of, sheet_of, show, studio, view_of
from admin.publish.brand import PICTURE_MAX_BYTES
from admin.publish.errors import PublishError
from admin.state.brands import Draft, DraftMoved
from admin.studio.changes import changes
from admin.studio.content import BRAND_FILE, CONTENT_MAX_BYTES, BadContent, Content
from admin.studio.studio import Sheet
from admin.studio.values_form import TEXT_PREFIX, field_of, fields_of, values_of
from admin.words import _
from edge.core.pages import content_security_policy

FILE_FORM_MAX_BYTES = 3 * CONTENT_MAX_BYTES
WORDS_FORM_MAX_BYTES = 256 * 1024
WORDS_MAX_FIELDS = 200


@needs(Permission.SEE)
async def look(request: Request) -> Response:
    """The form of a brand's values beside its page."""
    return await _look(request, await sheet_of(request), view_of(request.query_params))


@needs(Permission.SEE)
async def words(request: Request) -> Response:
    """The messages of one language beside the page."""
    return await _words(request, await sheet_of(request), view_of(request.query_params))


@needs(Permission.SEE)
async def source(request: Request) -> Response:
    """A file of the brand as text."""
    sheet = await sheet_of(request)
    return await _source(request, sheet, request.query_params.get("file", BRAND_FILE)[:80])


@needs(Permission.EDIT_PAGES)
async def save_look(request: Request) -> Response:
    """Keeps the form in the draft."""
    return await _save_values(request, "look", await form_of(request))


@needs(Permission.EDIT_PAGES)
async def save_words(request: Request) -> Response:
    """Keeps the messages of one language in the draft."""
    form = await read_form(request, WORDS_FORM_MAX_BYTES, WORDS_MAX_FIELDS)
    check_form(request, form)
    return await _save_values(request, "words", form)


async def _save_values(request: Request, tab: str, form: Mapping[str, str]) -> Response:
    sheet, view = await sheet_of(request), view_of(form, "view_scheme")
    values, errors = values_of(sheet.content.values, form, view.language, languages())
    found = {error.field: error.problem for error in errors}
    if not found:
        try:
            saved = await _save(request, sheet, sheet.content.with_values(values), form)
        except DraftMoved as moved:
            return await _conflict(request, tab, sheet, view, moved, form)
        except BadContent as error:
            found = {"": str(error)}
        else:
            return await _saved(request, tab, saved, view)
    if _wants_json(request):
        return JSONResponse({"errors": found, "says": _("Not saved: see the fields.")}, 422)
    again = {"look": _look, "words": _words}[tab]
    return await again(request, sheet, view, 422, errors=by_field(found), typed=form)


async def _saved(request: Request, tab: str, sheet: Sheet, view: View) -> Response:
    if not _wants_json(request):
        return RedirectResponse(f"/pages/{sheet.brand}/{tab}{view.query}", 303)
    fault, where = await _fault(request, sheet, view)
    found = {where: fault} if where else {}
    says = _("Saved.") if not fault else _("Saved, but not fit to be published yet.")
    return JSONResponse({
        "revision": sheet.revision, "mark": sheet.mark, "errors": found, "notes": fields.notes(sheet.content.values),
        "fault": fault, "says": says, "draft": fields.draft_word(sheet.draft, actor(request).zone) if sheet.draft else "",
    })  # fmt: skip


async def _save(request: Request, sheet: Sheet, content: Content, form: Mapping[str, str]) -> Sheet:
    """The brand after the save. What did not change makes no draft. Raises DraftMoved, BadContent."""
    revision = number_of(form.get("revision", ""))
    if revision != sheet.revision:
        raise DraftMoved(sheet.draft)
    if content.files == sheet.content.files:
        return sheet
    await studio(request).save(sheet.brand, content, revision, actor(request).name)
    return await studio(request).sheet(sheet.brand)


async def _conflict(request: Request, tab: str, sheet: Sheet, view: View, moved: DraftMoved, form: Mapping[str, str]) -> Response:
    """Somebody saved meanwhile: what was typed stays on the page, what they changed is said."""
    says = _moved_word(moved.now)
    if _wants_json(request):
        return JSONResponse({"says": says}, 409)
    again = {"look": _look, "words": _words}[tab]
    return await again(request, sheet, view, 409, conflict=says, typed=form)


def _moved_word(now: Draft | None) -> str:
    if now is None:
        return _("The draft was published or discarded meanwhile. What you typed is still here; saving begins a new draft.")
    return _("%(who)s saved this draft meanwhile. What you typed is still here; saving puts it over theirs.") % {"who": now.by}


@needs(Permission.EDIT_PAGES)
async def save_source(request: Request) -> Response:
    """Keeps one file in the draft, or takes it out of the brand."""
    form = await read_form(request, FILE_FORM_MAX_BYTES)
    check_form(request, form)
    sheet, name = await sheet_of(request), form.get("file", "")
    text = form.get("text", "").replace("\r\n", "\n")
    try:
        content = sheet.content.without(name) if form.get("remove") else sheet.content.with_file(name, text.encode())
        saved = await _save(request, sheet, content, form)
    except BadContent as error:
        return await _source(request, sheet, name, 422, text=text, fault=str(error))
    except DraftMoved as moved:
        return await _source(request, sheet, name, 409, text=text, conflict=_moved_word(moved.now))
    target = name if name in saved.content.files else BRAND_FILE
    return RedirectResponse(f"/pages/{saved.brand}/source?file={target}", 303)


@needs(Permission.EDIT_PAGES)
async def save_picture(request: Request) -> Response:
    """Takes a logo or a background, or takes it away."""
    if int(request.headers.get("content-length") or 0) > CONTENT_MAX_BYTES:
        raise BadBody(413, _("the picture is larger than any that a page may hold"))
    async with request.form(max_files=1, max_fields=10, max_part_size=CONTENT_MAX_BYTES) as sent:
        form = {name: value for name, value in sent.items() if isinstance(value, str)}
        upload = sent.get("file")
        data = b"" if upload is None or isinstance(upload, str) else await upload.read(PICTURE_MAX_BYTES + 1)
        name = "" if upload is None or isinstance(upload, str) else upload.filename or ""
    check_form(request, form)
    sheet, key, view = await sheet_of(request), form.get("key", ""), view_of({})
    try:
        content = fields.with_picture(sheet.content, key, name, data, remove=bool(form.get("remove")))
        saved = await _save(request, sheet, content, form)
    except BadContent as error:
        return await _look(request, sheet, view, 422, errors=by_field({key: error.problem}))
    except DraftMoved as moved:
        return await _look(request, sheet, view, 409, conflict=_moved_word(moved.now))
    return RedirectResponse(f"/pages/{saved.brand}/look", 303)


@needs(Permission.SEE, polls=True)
async def preview(request: Request) -> Response:
    """The page of the brand as it stands, with a made-up visitor: sandboxed, in a frame of the studio only."""
    sheet, view, nonce = await sheet_of(request), view_of(request.query_params), secrets.token_urlsafe(16)
    try:
        html, status = await studio(request).page(sheet, view.language, view.state, nonce), 200
    except PublishError as error:
        html, status = fields.unfit_page(error), 422
    # The edge's own policy, with nothing left to ask or send.
    policy = re.sub(r"(connect-src|form-action) 'self'", r"\1 'none'", content_security_policy(nonce))
    fence = f"{policy}; frame-ancestors 'self'; sandbox allow-scripts"
    headers = {"Content-Security-Policy": fence, "X-Frame-Options": "SAMEORIGIN"}
    return HTMLResponse(html, status, headers)


async def _fault(request: Request, sheet: Sheet, view: View) -> tuple[str, str]:
    """What keeps the page that is looked at from being shown, and the field that it comes from."""
    try:
        await studio(request).page(sheet, view.language, view.state, "none")
    except PublishError as error:
        return fields.fault_word(error), field_of(error.field, view.language)
    return "", ""


async def _look(request: Request, sheet: Sheet, view: View, status: int = 200, *, typed: Mapping[str, str] | None = None,
                **values: Any) -> Response:  # fmt: skip
    fault, where = await _fault(request, sheet, view)
    shown = {**fields_of(sheet.content.values, view.language), **(typed or {})}
    shared = fields.look_values(sheet, shown, await studio(request).ids())
    errors = values.pop("errors", by_field({where: fault} if where else {}))
    return await show(request, "look", sheet, view, status, **shared, fields=by_field(shown), errors=errors, fault=fault,
                      picture_max_kib=PICTURE_MAX_BYTES // 1024, **values)  # fmt: skip


async def _words(request: Request, sheet: Sheet, view: View, status: int = 200, *, typed: Mapping[str, str] | None = None,
                 **values: Any) -> Response:  # fmt: skip
    fault, where = await _fault(request, sheet, view)
    shown = {name: text for name, text in fields_of(sheet.content.values, view.language).items() if name.startswith(TEXT_PREFIX)}
    errors = values.pop("errors", by_field({where: fault} if where else {}))
    return await show(request, "words", sheet, view, status, fields=by_field({**shown, **(typed or {})}), errors=errors,
                      fault=fault, groups=messages.groups(view.language), **values)  # fmt: skip


async def _source(request: Request, sheet: Sheet, name: str, status: int = 200, *, text: str | None = None, fault: str = "",
                  conflict: str = "") -> Response:  # fmt: skip
    view, workshop = view_of(request.query_params), studio(request).workshop
    line = 0
    if not fault:
        try:
            await studio(request).page(sheet, view.language, view.state, "none")
        except PublishError as error:
            fault = fields.fault_word(error)
            line = error.line if error.file.endswith(f"/{name}") else 0
    own = fields.editable(sheet.content)
    base = workshop.base_file(name)
    if text is None:
        text = sheet.content.text(name) if name in own else base or ""
    changed = {change.name for change in changes(sheet.published, sheet.content).files}
    listed = [(file, file in changed) for file in own]
    if name not in own:
        listed.append((name, False))
    return await show(request, "source", sheet, view, status, file=name, files=listed, is_new=name not in own, text=text,
                      lines=text.count("\n") + 1, fault=fault, fault_line=line, conflict=conflict,
                      base_files=workshop.base_files())  # fmt: skip


@needs(Permission.SEE)
async def front(request: Request) -> Response:
    """The first tab."""
    return await _look(request, await sheet_of(request), view_of(request.query_params))


def _wants_json(request: Request) -> bool:
    return request.headers.get("accept", "") == "application/json"


ROUTES = [
    Route("/pages/{brand}", front, methods=["GET"]),
    Route("/pages/{brand}/look", look, methods=["GET"]),
    Route("/pages/{brand}/look", save_look, methods=["POST"]),
    Route("/pages/{brand}/words", words, methods=["GET"]),
    Route("/pages/{brand}/words", save_words, methods=["POST"]),
    Route("/pages/{brand}/source", source, methods=["GET"]),
    Route("/pages/{brand}/source", save_source, methods=["POST"]),
    Route("/pages/{brand}/picture", save_picture, methods=["POST"]),
    Route("/pages/{brand}/preview", preview, methods=["GET"]),
]
