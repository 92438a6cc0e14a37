"""The form of a queue or a group: shown, checked, merged with what somebody else did meanwhile, confirmed and published."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Awaitable, Callable
from dataclasses import replace

from starlette.requests import Request
from starlette.responses import RedirectResponse, Response
from starlette.routing import Route

from admin.access.needs import needs
from admin.access.permissions import Permission
from admin.configure import labels
from admin.configure.countries import country_names
from admin.configure.deeds import publish
from admin.configure.document import Entry, NoSuchEntry, copied_queue, effective, find, group_of, queues
from admin.configure.form import packed, parts, read_form, shown_names
from admin.configure.service import Edition, Faulty, Published, Stale
from admin.configure.zones import UTC_NAME, zone_names
from admin.console.configure.common import HOME, Form, form_of, show, spoken, told, zone_for
from admin.console.configure.draft import Draft, Kind, as_json, entries, entry_from, judged, on_top_of, put
from admin.console.configure.members import members_of, typed_members
from admin.desk import desk
from admin.kv import KvError
from admin.store import StoreUnavailable
from admin.words import gettext as _
from admin.words import language
from edge.core.errors import ConfigError
from edge.core.page_set import page_set_key

TRIES = 3
NEW = "_new"  # no id has an underscore


# --- shown ----------------------------------------------------------------------------------------------------------


async def show_draft(request: Request, draft: Draft, current: Edition, status: int = 200, *, problem: str = "",
                     asks: bool = False) -> Response:  # fmt: skip
    """The form. `asks`: the consequences are to be confirmed; `problem`: why nothing was saved."""
    group = group_of(current.value, draft.original) if draft.kind == "queue" and draft.original else None
    in_group = group is not None
    form = parts(draft.kind, draft.entry, draft.zone, draft.faults, in_group=in_group)
    known = {control.path for part in form for control in part.controls}
    lost = [f.words for f in draft.faults if f.path.partition("[")[0].partition(".")[0] not in known]
    zones = zone_names() if draft.zone in zone_names() else (draft.zone, *zone_names())
    return show(
        request, "entry.html", HOME, status, draft=draft, parts=form, group=group, problem=problem, asks=asks,
        others=[*draft.others, *lost], shown=shown_names(draft.kind, in_group=in_group), base=packed(draft.base),
        action=f"{HOME}/{draft.kind}s/{draft.original or NEW}", changes=[spoken(change) for change in draft.changes],
        consequences=[spoken(change) for change in draft.consequences], theirs=[spoken(change) for change in draft.theirs],
        words=labels, utc=_in_utc(draft), zones=zones, countries=country_names(language()),
        entry_json=draft.typed_json or as_json(draft.entry),
        queue_ids=[(str(each["id"]), str(each.get("name", ""))) for each in queues(current.value)],
        warnings=[*await asyncio.to_thread(_warnings, draft, current), *await asyncio.to_thread(_page_warning, request, draft)],
        members=members_of(draft.entry) if draft.kind == "group" else [],
    )  # fmt: skip


def _in_utc(draft: Draft) -> dict[str, str]:
    """The moments of the entry as they are kept, by their keys."""
    named = {name: draft.entry.get(name) for name in ("prequeue_at", "opens_at", "closes_at")}
    return {name: value.removesuffix("Z").replace("T", " ") for name, value in named.items() if isinstance(value, str)}


def _warnings(draft: Draft, current: Edition) -> list[str]:
    """What the rules of this queue would hold, as published."""
    if draft.kind != "queue" or not draft.original:
        return []
    return [each.spoken for each in current.warnings if each.queue_id == draft.original]


def _page_warning(request: Request, draft: Draft) -> list[str]:
    """Whether the brand has pages in the store."""
    brand = effective(draft.entry, "page")
    try:
        if draft.kind == "group" or not isinstance(brand, str) or desk(request).kv.get(page_set_key(brand)) is not None:
            return []
    except KvError:  # no key, or no store: said elsewhere
        return []
    return [_("There are no published pages of the brand %(brand)s: visitors see a plain page.") % {"brand": brand}]


def _new(kind: Kind, current: Edition, copies: str, zone: str) -> Draft:
    if kind == "group":
        return Draft("group", "", {}, {"id": "", "name": "", "queues": [], "admit_per_minute": None}, zone)
    entry: Entry = {"id": "", "name": "", "routes": []}
    if copies:
        entry = copied_queue(current.value, copies, f"{copies[:40]}-copy")
    return Draft("queue", "", {}, entry, zone)


def shows(kind: Kind) -> Callable[[Request], Awaitable[Response]]:
    """The page with the form of a new or a known one."""

    @needs(Permission.SEE)
    async def endpoint(request: Request) -> Response:
        current, zone = await desk(request).configurator.current(), request.query_params.get("zone") or zone_for(request)
        entry_id = request.path_params["entry_id"]
        if entry_id == NEW:
            return await show_draft(request, _new(kind, current, request.query_params.get("from", ""), zone), current)
        entry = find(entries(current.value, kind), entry_id)
        if entry is None:
            raise NoSuchEntry(kind, entry_id)
        return await show_draft(request, Draft(kind, entry_id, entry, entry, zone), current)

    return endpoint


# --- sent -----------------------------------------------------------------------------------------------------------


def _sent(kind: Kind, entry_id: str, form: Form) -> Draft:
    """What the form said. What cannot be read stays as it was typed, with its fault."""
    base, typed = _unpacked(form.get("base")), typed_members(form.typed) if kind == "group" else form.typed
    zone = form.get("zone_was") or UTC_NAME
    if form.get("do") == "from_json":
        original = "" if entry_id == NEW else entry_id
        try:
            return Draft(kind, original, base, entry_from(form.get("entry_json")), zone)
        except ConfigError as error:
            sent = read_form(kind, base, typed, zone)
            return Draft(kind, original, base, sent.entry, zone, typed_json=form.get("entry_json"), json_fault=str(error))
    sent = read_form(kind, base, typed, zone)
    return Draft(kind, "" if entry_id == NEW else entry_id, base, sent.entry, zone, sent.faults)


def _unpacked(text: str) -> Entry:
    try:
        value = json.loads(text or "{}")
    except (ValueError, RecursionError):
        return {}
    return value if isinstance(value, dict) else {}


def saves(kind: Kind) -> Callable[[Request], Awaitable[Response]]:
    """What the buttons of the form do: save, check, another zone, take over the JSON."""

    @needs(Permission.CONFIGURE)
    async def endpoint(request: Request) -> Response:
        form = await form_of(request)
        current = await desk(request).configurator.current()
        draft = _sent(kind, request.path_params["entry_id"], form)
        do = form.get("do")
        if do == "zone":
            return await show_draft(request, replace(draft, zone=form.get("zone") or UTC_NAME), current)
        draft = await asyncio.to_thread(_judged, draft, current)
        if do in ("check", "from_json") or draft.json_fault:
            return await show_draft(request, draft, current, 422 if draft.json_fault else 200)
        return await _save(request, draft, current, form)

    return endpoint


def _judged(draft: Draft, current: Edition) -> Draft:
    return judged(on_top_of(draft, current), current)


async def _save(request: Request, draft: Draft, current: Edition, form: Form) -> Response:
    if draft.is_bad:
        return await show_draft(request, draft, current, 422, problem=_("Nothing was saved: mend what is marked."))
    if draft.is_stale and (draft.conflicts or draft.is_removed):
        says = _("Nothing was saved: somebody else changed the same. Look at what is marked, then save again.")
        return await show_draft(request, draft, current, 409, problem=says)
    if draft.consequences and form.get("confirmed") != draft.confirmation:
        return await show_draft(request, draft, current, asks=True)
    name = draft.kind
    action = f"{name}.change" if draft.original else f"{name}.add"
    target = f"{name}:{draft.entry['id']}"
    value = put(current.value, name, draft.entry, draft.original)
    try:
        done = await publish(request, value, current.etag, action=action, target=target)
    except Stale as error:
        again = await asyncio.to_thread(_judged, draft, error.current)
        says = _("Nothing was saved: somebody published at this very moment. Look at it, then save again.")
        return await show_draft(request, again, error.current, 409, problem=says)
    except Faulty as error:
        return await show_draft(request, replace(draft, others=tuple(f.words for f in error.faults)), current, 422)
    except StoreUnavailable as error:
        says = _("Nothing was saved, and nothing of what you typed is lost: %(problem)s") % {"problem": str(error)}
        return await show_draft(request, draft, current, 503, problem=says)
    request.session["flash"] = saved(done, draft)
    return RedirectResponse(f"{HOME}/{name}s/{draft.entry['id']}", 303)


def saved(done: Published, draft: Draft | None = None) -> str:
    """What a save did, for the line above the page."""
    if not done.is_new:
        return _("Nothing changed: this is what was published already.")
    what = told(done.changes) or _("It is written differently and means the same.")
    both = " " + _("The change that somebody else made meanwhile is kept.") if draft is not None and draft.is_stale else ""
    return _("Saved, and in force: %(changes)s") % {"changes": what} + both


ROUTES = [
    route
    for kind in ("queue", "group")
    for route in (
        Route(f"{HOME}/{kind}s/{{entry_id}}", shows(kind), methods=["GET"]),
        Route(f"{HOME}/{kind}s/{{entry_id}}", saves(kind), methods=["POST"]),
    )
]
