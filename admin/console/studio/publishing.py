"""From a draft to what visitors see: publishing, discarding, the history and the way back."""

from __future__ import annotations

from starlette.requests import Request
from starlette.responses import RedirectResponse, Response
from starlette.routing import Route

from admin.access.actor import actor
from admin.access.forms import form_of
from admin.access.needs import needs
from admin.access.permissions import Permission
from admin.audit import audit
from admin.console.render import page
from admin.console.studio.fields import fault_word
from admin.console.studio.view import number_of, others_news, sheet_of, studio
from admin.desk import desk
from admin.kv import KvError
from admin.publish.errors import PublishError
from admin.state.brands import DraftMoved
from admin.studio.changes import changes
from admin.studio.content import Content
from admin.studio.studio import MovedOn, Sheet
from admin.words import _

NOTE_MAX = 200


@needs(Permission.PUBLISH_PAGES)
async def ask(request: Request) -> Response:
    """What publishing will change."""
    return await _ask(request, await sheet_of(request))


@needs(Permission.PUBLISH_PAGES)
async def publish(request: Request) -> Response:
    """Checks every page and puts the new version in force."""
    form = await form_of(request)
    sheet, note = await sheet_of(request), form.get("note", "").strip()[:NOTE_MAX]
    differs = changes(sheet.published, sheet.content)
    try:
        done = await studio(request).publish(sheet.brand, number_of(form.get("revision", "")), actor(request).name, note)
    except DraftMoved:
        return await _ask(request, sheet, 409, _("The draft changed while you looked. This is what would change now."), note)
    except PublishError as error:
        link = f"/pages/{sheet.brand}/source?file={error.file.rpartition('/')[2]}" if error.file else ""
        return await _ask(request, sheet, 422, fault_word(error), note, link)
    except KvError as error:
        return await _ask(request, sheet, 503, _("The store did not take it: %(why)s. The draft is kept.") % {"why": error}, note)
    await audit(request).record(
        "brand.publish", f"brand:{sheet.brand}", {"version": sheet.source_version or None},
        {"version": done.version, "values": {change.path: change.after for change in differs.values},
         "files": [change.name for change in differs.files]}, note,
    )  # fmt: skip
    said = _("Version %(number)s is in force, in %(count)s languages.") % {"number": done.version, "count": len(done.languages)}
    return _back(request, f"/pages/{sheet.brand}", " ".join([said, *done.notes]))


async def _ask(request: Request, sheet: Sheet, status: int = 200, problem: str = "", note: str = "", link: str = "") -> Response:
    published = await desk(request).source.published()
    queues = [queue.id for queue in published.config.queues if queue.page == sheet.brand]
    return page(
        request, "studio/publish.html", status, brand=sheet.brand, name=sheet.name,
        changes=changes(sheet.published, sheet.content), queues=queues[:12], revision=sheet.revision, problem=problem, note=note,
        fault_link=link, other=others_news(request, sheet.draft),
    )  # fmt: skip


@needs(Permission.EDIT_PAGES)
async def discard(request: Request) -> Response:
    """Ends the draft."""
    form, sheet = await form_of(request), await sheet_of(request)
    try:
        await studio(request).discard(sheet.brand, number_of(form.get("revision", "")))
    except DraftMoved:
        return _back(request, f"/pages/{sheet.brand}", _("Not discarded: the draft changed meanwhile. Look at it first."))
    await audit(request).record("brand.discard", f"brand:{sheet.brand}", {"draft_of": sheet.draft.by if sheet.draft else None})
    to = f"/pages/{sheet.brand}" if sheet.published else "/pages"
    return _back(request, to, _("The draft is gone."))


@needs(Permission.SEE)
async def history(request: Request) -> Response:
    """What was in force when, and who did it."""
    return await _history(request, await sheet_of(request))


async def _history(request: Request, sheet: Sheet, status: int = 200, problem: str = "") -> Response:
    who, rows = actor(request), []
    try:
        rows = await studio(request).history(sheet.brand)
    except (KvError, PublishError) as error:
        problem, status = problem or str(error), max(status, 503)
    return page(
        request, "studio/history.html", status, brand=sheet.brand, name=sheet.name,
        rows=rows, problem=problem, revision=sheet.revision, in_force=next((row.version for row in rows if row.is_in_force), 0),
        may_edit=who.may(Permission.EDIT_PAGES), may_publish=who.may(Permission.PUBLISH_PAGES),
    )  # fmt: skip


@needs(Permission.SEE)
async def one_version(request: Request) -> Response:
    """What a version changed against the one before it."""
    sheet = await sheet_of(request)
    found, before = await studio(request).source(sheet.brand, request.path_params["version"])
    differs = changes(Content.of_json(before.content) if before else None, Content.of_json(found.content))
    return page(
        request, "studio/version.html", brand=sheet.brand, name=sheet.name,
        version=found.version, at_ms=found.at_ms, by=found.by, note=found.note, before=before.version if before else 0,
        changes=differs,
    )  # fmt: skip


@needs(Permission.PUBLISH_PAGES)
async def roll_back(request: Request) -> Response:
    """Puts another version that is in the store in force."""
    form, sheet = await form_of(request), await sheet_of(request)
    to, seen = number_of(form.get("version", "")), number_of(form.get("in_force", ""))
    try:
        done = await studio(request).roll_back(sheet.brand, to, seen, actor(request).name)
    except MovedOn as error:
        return await _history(request, sheet, 409, _("Somebody was quicker: %(what)s.") % {"what": error})
    except PublishError as error:
        return await _history(request, sheet, 422, error.what)
    except KvError as error:
        return await _history(request, sheet, 503, str(error))
    await audit(request).record("brand.roll_back", f"brand:{sheet.brand}", {"version": seen}, {"version": done.version})
    said = _("Version %(number)s is in force again.") % {"number": done.version}
    return _back(request, f"/pages/{sheet.brand}/history", " ".join([said, *done.notes]))


@needs(Permission.EDIT_PAGES)
async def restore(request: Request) -> Response:
    """Takes the source of a version as the draft."""
    form, sheet = await form_of(request), await sheet_of(request)
    found, _before = await studio(request).source(sheet.brand, number_of(form.get("version", "")))
    content = Content.of_json(found.content)
    try:
        await studio(request).save(sheet.brand, content, number_of(form.get("revision", "")), actor(request).name)
    except DraftMoved:
        return await _history(request, sheet, 409, _("There is a draft that you have not seen. Look at it first."))
    await audit(request).record("brand.restore", f"brand:{sheet.brand}", after={"draft_from": found.version})
    return _back(request, f"/pages/{sheet.brand}", _("Version %(number)s is the draft now.") % {"number": found.version})


def _back(request: Request, to: str, says: str) -> Response:
    request.session["flash"] = says
    return RedirectResponse(to, 303)


ROUTES = [
    Route("/pages/{brand}/publish", ask, methods=["GET"]),
    Route("/pages/{brand}/publish", publish, methods=["POST"]),
    Route("/pages/{brand}/discard", discard, methods=["POST"]),
    Route("/pages/{brand}/history", history, methods=["GET"]),
    Route("/pages/{brand}/history/{version:int}", one_version, methods=["GET"]),
    Route("/pages/{brand}/roll-back", roll_back, methods=["POST"]),
    Route("/pages/{brand}/restore", restore, methods=["POST"]),
]
