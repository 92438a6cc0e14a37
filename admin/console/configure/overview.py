"""The list of what is configured, and the question before something is removed."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping, Sequence
from typing import Any

from starlette.requests import Request
from starlette.responses import RedirectResponse, Response
from starlette.routing import Route

from admin.access.needs import needs
from admin.access.permissions import Permission
from admin.configure.changes import differences
from admin.configure.countries import country_name
from admin.configure.deeds import edit
from admin.configure.document import (
    Entry,
    Value,
    group_entry,
    group_of,
    groups,
    queue_entry,
    queues,
    without_group,
    without_queue,
)
from admin.configure.service import Edition, Faulty
from admin.console.configure.common import HOME, form_of, show, spoken
from admin.console.configure.entry import saved
from admin.console.queue_page import QUEUES_PER_PAGE
from admin.desk import desk
from admin.words import gettext as _
from admin.words import language

RULES_SHOWN = 3
COUNTRIES_SHOWN = 4


@needs(Permission.SEE)
async def overview(request: Request) -> Response:
    """All queues and groups with what matters of their settings."""
    current = await desk(request).configurator.current()
    search = request.query_params.get("q", "").strip()[:100]
    found = [entry for entry in queues(current.value) if _matches(entry, search)]
    asked = request.query_params.get("page", "")
    pages = max(1, -(-len(found) // QUEUES_PER_PAGE))
    number = min(max(1, int(asked) if asked.isascii() and asked.isdigit() and len(asked) < 6 else 1), pages)
    shown = found[(number - 1) * QUEUES_PER_PAGE : number * QUEUES_PER_PAGE]
    warned = await asyncio.to_thread(_warned, current)
    return show(
        request, "overview.html", HOME, current=current, search=search, number=number, pages=pages, found=len(found),
        any_queue=bool(queues(current.value)), queues=[_row(entry, current.value, warned) for entry in shown],
        groups=[_group_row(entry) for entry in groups(current.value)] if number == 1 and not search else [],
    )  # fmt: skip


def _matches(entry: Entry, search: str) -> bool:
    wanted = search.casefold()
    routes = " ".join(str(route.get("host", "")) + str(route.get("path", "")) for route in entry.get("routes", ()))
    return wanted in f"{entry.get('id')} {entry.get('name')} {routes}".casefold()


def _warned(current: Edition) -> dict[str, int]:
    counts: dict[str, int] = {}
    for each in current.warnings:
        counts[each.queue_id] = counts.get(each.queue_id, 0) + 1
    return counts


def _row(entry: Entry, value: Value, warned: Mapping[str, int]) -> dict[str, Any]:
    group = group_of(value, str(entry["id"]))
    rules = [("" if route.get("host", "*") == "*" else route["host"]) + route["path"] for route in entry.get("routes", ())]
    return {
        "id": entry["id"], "name": entry.get("name", ""), "rules": rules[:RULES_SHOWN], "more": len(rules) - RULES_SHOWN,
        "group": group,
        "countries": _countries(entry), "limits": _limits(group or entry), "schedule": _schedule(group or entry),
        "version": (group or entry).get("config_version", 1), "warnings": warned.get(str(entry["id"]), 0),
    }  # fmt: skip


def _group_row(entry: Entry) -> dict[str, Any]:
    quotas = entry.get("quotas", {})
    members = [f"{member} ({quotas[member]})" if member in quotas else member for member in entry.get("queues", ())]
    return {"id": entry["id"], "name": entry.get("name", ""), "members": members, "limits": _limits(entry),
            "schedule": _schedule(entry), "version": entry.get("config_version", 1)}  # fmt: skip


def _few(texts: Sequence[str], at_most: int) -> Sequence[str]:
    more = len(texts) - at_most
    return [*texts[:at_most], _("and %(count)s more") % {"count": more}] if more > 0 else texts


def _countries(entry: Entry) -> str:
    codes = entry.get("countries")
    if codes is None:
        return _("all")
    return ", ".join(_few([country_name(code, language()) for code in codes], COUNTRIES_SHOWN))


def _limits(entry: Entry) -> Sequence[str]:
    said = []
    for name, words in (
        ("admit_per_minute", _("%(count)s a minute")), ("max_active", _("%(count)s inside")), ("inventory", _("%(count)s units"))
    ):  # fmt: skip
        if entry.get(name) is not None:
            said.append(words % {"count": f"{int(entry[name]):,}"})
    flags = (("manual", _("called by hand")), ("always_queue", _("always queued")))
    return [*said, *(words for name, words in flags if entry.get(name))]


def _schedule(entry: Entry) -> Sequence[str]:
    named = (("prequeue_at", _("pre-queue %(at)s")), ("opens_at", _("opens %(at)s")), ("closes_at", _("closes %(at)s")))
    return [words % {"at": entry[name].replace("T", " ").removesuffix("Z") + " UTC"} for name, words in named if entry.get(name)]


# --- removing -------------------------------------------------------------------------------------------------------


def _without(value: Value, kind: str, entry_id: str) -> Value:
    return without_queue(value, entry_id) if kind == "queue" else without_group(value, entry_id)


async def show_removal(request: Request, kind: str, entry_id: str, status: int = 200, *, error: str = "") -> Response:
    """The question: what removing does. Raises NoSuchEntry."""
    current = await desk(request).configurator.current()
    entry = queue_entry(current.value, entry_id) if kind == "queue" else group_entry(current.value, entry_id)
    says = [spoken(change) for change in differences(current.value, _without(current.value, kind, entry_id))]
    group = group_of(current.value, entry_id) if kind == "queue" else None
    return show(request, "remove.html", HOME, status, kind=kind, entry=entry, says=says, error=error, group=group)


def _kind(request: Request) -> str:
    return "queue" if request.path_params["kind"] == "queues" else "group"


@needs(Permission.CONFIGURE)
async def remove_page(request: Request) -> Response:
    """Asks before something is removed."""
    return await show_removal(request, _kind(request), request.path_params["entry_id"])


@needs(Permission.CONFIGURE)
async def remove(request: Request) -> Response:
    """Removes what was named in the form."""
    form, kind, entry_id = await form_of(request), _kind(request), request.path_params["entry_id"]
    if form.get("typed").strip() != entry_id:
        return await show_removal(request, kind, entry_id, 422, error=_("Type %(id)s to remove it.") % {"id": entry_id})
    target = f"{kind}:{entry_id}"
    try:
        done = await edit(request, lambda value: _without(value, kind, entry_id), action=f"{kind}.remove", target=target)
    except Faulty as error:
        return await show_removal(request, kind, entry_id, 422, error=" ".join(fault.words for fault in error.faults))
    request.session["flash"] = saved(done)
    return RedirectResponse(HOME, 303)


ROUTES = [
    Route(HOME, overview, methods=["GET"]),
    Route(HOME + "/{kind:str}/{entry_id}/remove", remove_page, methods=["GET"]),
    Route(HOME + "/{kind:str}/{entry_id}/remove", remove, methods=["POST"]),
]
