"""The whole configuration as JSON: with lines, faults at their line, and merging with what somebody else published meanwhile."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Sequence
from typing import Any

from starlette.requests import Request
from starlette.responses import RedirectResponse, Response
from starlette.routing import Route

from admin.access.needs import needs
from admin.access.permissions import Permission
from admin.configure.changes import Change, differences
from admin.configure.deeds import publish
from admin.configure.document import Value
from admin.configure.faults import Fault, faults_of
from admin.configure.merge import merged
from admin.configure.positions import with_lines
from admin.configure.service import Edition, Faulty, Stale, parsed
from admin.console.configure.common import HOME, Form, form_of, show, spoken
from admin.console.configure.draft import Draft
from admin.console.configure.entry import saved
from admin.desk import desk
from admin.store import StoreUnavailable
from admin.words import gettext as _

PATH = f"{HOME}/json"


def pretty(value: Value) -> str:
    """A configuration as a person reads it."""
    return json.dumps(value, indent=2, ensure_ascii=False) + "\n"


async def show_editor(
    request: Request, text: str, etag: str, status: int = 200, *, faults: Sequence[Fault] = (), changes: Sequence[Change] = (),
    theirs: Sequence[str] = (), problem: str = "", draft: Draft | None = None, warnings: Sequence[str] = (),
) -> Response:  # fmt: skip
    """The editor with a text. `draft`: carries consequences that are to be confirmed; `warnings`: about what is published."""
    faults = with_lines(list(faults), text)
    bad = {fault.line for fault in faults if fault.line}
    return show(
        request, "editor.html", PATH, status, text=text, etag=etag, faults=faults, bad=bad, problem=problem,
        lines=text.count("\n") + 1, changes=[spoken(change) for change in changes], theirs=theirs,
        warnings=warnings, confirmation=draft.confirmation if draft else "",
        consequences=[spoken(c) for c in draft.consequences] if draft else [],
    )  # fmt: skip


@needs(Permission.SEE)
async def editor(request: Request) -> Response:
    """The published configuration; one that is broken as it stands."""
    current = await desk(request).configurator.current()
    text = (current.text or "") if current.problem else pretty(current.value)
    faults = faults_of_broken(current) if current.problem else []
    warnings = [each.spoken for each in await asyncio.to_thread(lambda: current.warnings)]
    return await show_editor(request, text, current.etag, faults=faults, warnings=warnings)


def faults_of_broken(current: Edition) -> list[Fault]:
    """What is wrong with what is published."""
    try:
        return faults_of(parsed(current.text or ""))
    except Faulty as error:
        return list(error.faults)


@needs(Permission.CONFIGURE)
async def edit_json(request: Request) -> Response:
    """Checks or saves the text."""
    form = await form_of(request)
    text = form.get("text").replace("\r\n", "\n")
    etag = form.get("etag")
    room = desk(request)
    try:
        value: Any = parsed(text)
    except Faulty as error:
        return await show_editor(request, text, etag, 422, faults=error.faults, problem=_("Nothing was saved."))
    current = await room.configurator.current()
    if current.etag != etag:
        return await _merge(request, value, etag, current)
    value.pop("checked", None)
    faults = await asyncio.to_thread(faults_of, value)
    if faults:
        return await show_editor(request, text, etag, 422, faults=faults, problem=_("Nothing was saved."))
    changes = await asyncio.to_thread(differences, current.value, value)
    draft = Draft("queue", "", {}, {}, "UTC", changes=changes)
    if form.get("do") == "check":
        return await show_editor(request, text, etag, changes=draft.changes)
    return await _save(request, text, value, current, draft, form)


async def _save(request: Request, text: str, value: Value, current: Edition, draft: Draft, form: Form) -> Response:
    if draft.consequences and form.get("confirmed") != draft.confirmation:
        return await show_editor(request, text, current.etag, draft=draft)
    try:
        done = await publish(request, value, current.etag, action="configuration.publish")
    except Stale as error:
        return await _merge(request, value, current.etag, error.current)
    except (StoreUnavailable, Faulty) as error:
        status = 503 if isinstance(error, StoreUnavailable) else 422
        says = _("Nothing was saved, and nothing of what you typed is lost: %(problem)s") % {"problem": str(error)}
        return await show_editor(request, text, current.etag, status, problem=says)
    request.session["flash"] = saved(done)
    return RedirectResponse(PATH, 303)


async def _merge(request: Request, value: Value, etag: str, current: Edition) -> Response:
    """Mine on top of what somebody else published; without the text that mine was made from, mine as it is."""
    base = await desk(request).keeper.with_etag(etag)
    if base is None or base.problem:
        says = _("Nothing was saved: somebody published in the meantime. Saving again replaces theirs by yours.")
        return await show_editor(request, pretty(value), current.etag, 409, problem=says,
                                 theirs=[spoken(change) for change in differences(value, current.value)])  # fmt: skip
    both, conflicts = merged(base.value, value, current.value)
    theirs = [spoken(change) for change in differences(base.value, current.value)]
    says = _("Nothing was saved: somebody published in the meantime. The text below has both; look at it, then save again.")
    if conflicts:
        named = ", ".join(f"{each.target} {each.key}".strip() for each in conflicts)
        says += " " + _("Both of you changed %(names)s: the text has yours.") % {"names": named}
    return await show_editor(request, pretty(both), current.etag, 409, problem=says, theirs=theirs)


ROUTES = [Route(PATH, editor, methods=["GET"]), Route(PATH, edit_json, methods=["POST"])]
