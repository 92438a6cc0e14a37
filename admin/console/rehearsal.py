"""Pages of rehearsals: the form with those that were held, and one of them with its progress or its report."""

from __future__ import annotations

from collections.abc import Mapping

from starlette.requests import Request
from starlette.responses import RedirectResponse, Response
from starlette.routing import Route

from admin.access.actor import actor
from admin.access.forms import form_of
from admin.access.needs import needs
from admin.access.permissions import Permission
from admin.audit import audit
from admin.console.acting import sentence
from admin.console.render import page
from admin.console.zones import zone_of
from admin.desk import desk
from admin.limits import BadValue
from admin.operate import moments
from admin.operate.rehearsal_report import report_of
from admin.operate.rehearsal_sale import NUMBERS, SHAPES, check
from admin.operations import Refused
from admin.state import rehearsals as table
from admin.words import N_, _

LABELS: Mapping[str, tuple[str, str]] = {
    "people": (N_("People"), N_("who come")),
    "arrive_within_s": (N_("Arrive within"), N_("seconds")),
    "lasts_s": (N_("The sale lasts"), N_("seconds at most")),
    "closers_percent": (N_("Close the page while they wait"), N_("percent")),
    "absent_when_called_percent": (N_("Let their turn go"), N_("percent")),
    "visit_s": (N_("A visit takes"), N_("seconds")),
    "seed": (N_("Seed"), N_("another one, another crowd")),
}


@needs(Permission.SEE)
async def rehearsals(request: Request) -> Response:
    """The form, and what was rehearsed."""
    return await _show(request)


async def _show(
    request: Request, status: int = 200, errors: Mapping[str, str] | None = None, typed: Mapping[str, str] | None = None
) -> Response:
    room, queue_id = desk(request), request.path_params["queue_id"]
    queue = await room.operations.configured(queue_id)
    held = await room.db.read(lambda session: table.of(session, queue_id))
    zone = zone_of(request)
    fields = [(name, *LABELS[name], NUMBERS[name]) for name in NUMBERS]
    values = {name: str(default) for name, (_low, _high, default) in NUMBERS.items()} | {"shape": SHAPES[0]}
    return page(
        request, "rehearsal/all.html", status, queue=queue, held=held, fields=fields, shapes=SHAPES,
        shown=lambda at_ms: moments.shown(at_ms, zone), errors={**dict.fromkeys(("", "shape", *NUMBERS), ""), **(errors or {})},
        typed={**values, **(typed or {})},
    )  # fmt: skip


@needs(Permission.OPERATE)
async def begin(request: Request) -> Response:
    """Begins one; at most one runs."""
    form = await form_of(request)
    room, queue_id = desk(request), request.path_params["queue_id"]
    view = await room.operations.queue(queue_id)
    try:
        asked = check({**{name: _number(name, form.get(name, "")) for name in NUMBERS}, "shape": form.get("shape", SHAPES[0])})
        rehearsal_id = await room.operate.rehearsals.start(view, asked, actor(request).name)
    except BadValue as error:
        return await _show(request, 422, {error.at: sentence(error, error.problem)}, form)
    except Refused as error:
        return await _show(request, 409, {"": sentence(error)}, form)
    await audit(request).record("rehearsal.start", f"queue:{queue_id}", after={"id": rehearsal_id, **asked.values()})
    return RedirectResponse(f"/rehearsals/{queue_id}/{rehearsal_id}", 303)


def _number(name: str, text: str) -> int:
    plain = text.strip().replace(",", "")
    if not (plain.isascii() and plain.isdigit() and len(plain) < 10):
        low, high, _default = NUMBERS[name]
        raise BadValue(name, f"must be a whole number from {low} to {high}")
    return int(plain)


@needs(Permission.SEE)
async def one(request: Request) -> Response:
    """One rehearsal: how far it is, or its report."""
    room = desk(request)
    queue_id, rehearsal_id = request.path_params["queue_id"], request.path_params["rehearsal_id"]
    queue = await room.operations.configured(queue_id)
    found = await room.db.read(lambda session: table.find(session, queue_id, rehearsal_id))
    if found is None:
        return await _show(request, 404, {"": _("There is no such rehearsal: it was forgotten, or never held.")})
    zone = zone_of(request)
    kept = found.report or {}
    return page(
        request, "rehearsal/one.html", queue=queue, one=found, percent=room.operate.rehearsals.progress(found.id) // 10,
        report=report_of(kept), problem=str(kept.get("problem", "")), shown=lambda at_ms: moments.shown(at_ms, zone),
    )  # fmt: skip


@needs(Permission.OPERATE)
async def cancel(request: Request) -> Response:
    """Ends one that runs."""
    await form_of(request)
    queue_id, rehearsal_id = request.path_params["queue_id"], request.path_params["rehearsal_id"]
    try:
        await desk(request).operate.rehearsals.cancel(rehearsal_id)
    except Refused as error:
        return await _show(request, 409, {"": sentence(error)})
    await audit(request).record("rehearsal.cancel", f"queue:{queue_id}", after={"id": rehearsal_id})
    return RedirectResponse(f"/rehearsals/{queue_id}/{rehearsal_id}", 303)


ROUTES = [
    Route("/rehearsals/{queue_id}", rehearsals, methods=["GET"]),
    Route("/rehearsals/{queue_id}/begin", begin, methods=["POST"]),
    Route("/rehearsals/{queue_id}/{rehearsal_id}", one, methods=["GET"]),
    Route("/rehearsals/{queue_id}/{rehearsal_id}/cancel", cancel, methods=["POST"]),
]
