"""Pages of the schedule: all queues, and one queue with its timeline and the form for another step."""

from __future__ import annotations

import secrets
from collections.abc import Mapping

from starlette.requests import Request
from starlette.responses import RedirectResponse, Response
from starlette.routing import Route

from admin.access.actor import actor
from admin.access.forms import form_of
from admin.access.needs import needs
from admin.access.permissions import Permission
from admin.audit import audit
from admin.console import sentences
from admin.console.acting import sentence
from admin.console.render import page
from admin.console.schedule import timeline
from admin.console.zones import zone_of
from admin.desk import desk
from admin.limits import BadValue, Value
from admin.operate import moments, schedule, timetable
from admin.operate.schedule import ACTIONS, LATE_AT_MOST_S, Clash
from admin.operations import Refused
from admin.words import _

QUEUES_AT_MOST = 500
DONE_SHOWN = 15
# Where an error can stand; the empty one is the page itself.
_FIELDS = ("", "at", "zone", "fold", "value")
# What the form offers: an action, or one limit and its value.
LIMITS: Mapping[str, str] = {"rate": "admit_per_minute", "cap": "max_active", "inventory": "inventory"}


@needs(Permission.SEE)
async def all_queues(request: Request) -> Response:
    """What is to come for all queues, in the order of time, and what is over."""
    room, zone = desk(request), zone_of(request)
    to_come, over = await timetable.steps_of(room, None, DONE_SHOWN)
    queues = (await room.source.published()).config.queues
    names = {queue.id: queue.name for queue in queues}
    return page(
        request, "schedule/all.html", to_come=to_come, over=over, names=names, queues=queues[:QUEUES_AT_MOST], zone=zone,
        shown=lambda at_ms: moments.shown(at_ms, zone), utc=moments.utc, says=timeline.says,
    )  # fmt: skip


@needs(Permission.SEE)
async def queue_schedule(request: Request) -> Response:
    """The schedule of one queue."""
    return await _show(request)


async def _show(
    request: Request, status: int = 200, errors: Mapping[str, str] | None = None, typed: Mapping[str, str] | None = None
) -> Response:
    room, queue_id = desk(request), request.path_params["queue_id"]
    queue, ids = await timetable.scope_of(room, queue_id)
    to_come, over = await timetable.steps_of(room, ids, DONE_SHOWN)
    zone = zone_of(request)
    now_ms = int(room.unix_s() * 1000)
    values = {"at": "", "zone": zone.key, "fold": "", "what": "rate", "value": "", "as_configured": ""}
    return page(
        request, "schedule/queue.html", status, queue=queue, to_come=to_come, over=over, zone=zone, actions=ACTIONS,
        line=timeline.of(queue, to_come, now_ms, zone), errors={**dict.fromkeys(_FIELDS, ""), **(errors or {})},
        typed={**values, **(typed or {})},
        shown=lambda at_ms: moments.shown(at_ms, zone), utc=moments.utc, says=timeline.says, step_id=secrets.token_hex(8),
        late_min=LATE_AT_MOST_S // 60, now=moments.shown(now_ms, zone),
    )  # fmt: skip


@needs(Permission.OPERATE)
async def add(request: Request) -> Response:
    """Adds a step; on an error the form comes back with what was typed."""
    form = await form_of(request)
    queue_id = request.path_params["queue_id"]
    room = desk(request)
    await room.operations.configured(queue_id)
    try:
        zone = moments.zone_named(form.get("zone", "").strip())
        at_ms = moments.moment_of(form.get("at", ""), zone, form.get("fold", ""))
        changes, step = _content(form)
        wanted = schedule.check(at_ms, changes, step, int(room.unix_s() * 1000))
        step_id = form.get("step_id", "")[:64] or secrets.token_hex(8)
        await timetable.add(room, audit(request), queue_id, wanted, actor(request).name, step_id)
    except BadValue as error:
        at = error.at if error.at in ("at", "zone", "fold") else "value"
        return await _show(request, 422, {at: sentence(error, error.problem)}, form)
    except Clash as error:
        return await _show(request, 409, {"at": sentence(error)}, form)
    request.session["flash"] = _("It will happen on %(at)s.") % {"at": moments.shown(at_ms, zone)}
    return RedirectResponse(f"/schedule/{queue_id}", 303)


def _content(form: Mapping[str, str]) -> tuple[dict[str, Value] | None, str | None]:
    what = form.get("what", "")
    if what not in LIMITS:
        return None, what
    name, text = LIMITS[what], form.get("value", "")
    if form.get("as_configured") == "1":
        return {name: "config"}, None
    value = sentences.parse_limit(name, text)
    if isinstance(value, str):
        raise BadValue("value", value)
    return {name: value}, None


@needs(Permission.OPERATE)
async def remove(request: Request) -> Response:
    """Takes a step back."""
    form = await form_of(request)
    queue_id = request.path_params["queue_id"]
    try:
        await timetable.remove(desk(request), audit(request), queue_id, form.get("step", "")[:64])
    except Refused as error:
        return await _show(request, 409, {"": sentence(error)})
    request.session["flash"] = _("Taken back: it will not happen.")
    return RedirectResponse(f"/schedule/{queue_id}", 303)


ROUTES = [
    Route("/schedule", all_queues, methods=["GET"]),
    Route("/schedule/{queue_id}", queue_schedule, methods=["GET"]),
    Route("/schedule/{queue_id}/add", add, methods=["POST"]),
    Route("/schedule/{queue_id}/remove", remove, methods=["POST"]),
]
