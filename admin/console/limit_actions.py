"""Forms that change limits live. Each carries what the page showed, so that nobody overwrites what they have not seen."""

from __future__ import annotations

from collections.abc import Mapping

from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from admin.audit import audit
from admin.console import sentences, words
from admin.console.acting import PRESS_AGAIN, Form, action, back, no_number, request_id_for, sentence, typed_in
from admin.console.pages import show_limits
from admin.console.queue_page import show_queue
from admin.deeds import changed
from admin.desk import desk
from admin.limits import FROM_CONFIG, NAMES, BadValue, Value
from admin.operate.last_change import who_set
from admin.operations import Overtaken
from admin.store import StoreUnavailable
from admin.words import N_, _, gettext

# Fields of the queue's page that stand for one limit each, and what a number in it is.
FIELDS: Mapping[str, tuple[str, str]] = {
    "rate": ("admit_per_minute", N_("rate")),
    "cap": ("max_active", N_("number of people")),
    "inventory": ("inventory", N_("number of units")),
}


async def rate(request: Request, queue_id: str, form: Form) -> Response:
    """Changes the rate, or takes it back to the configuration."""
    return await _one(request, queue_id, form, "rate")


async def cap(request: Request, queue_id: str, form: Form) -> Response:
    """The same for how many may be inside."""
    return await _one(request, queue_id, form, "cap")


async def inventory(request: Request, queue_id: str, form: Form) -> Response:
    """The same for the units that can be sold."""
    return await _one(request, queue_id, form, "inventory")


async def _one(request: Request, queue_id: str, form: Form, field: str) -> Response:
    name, what = FIELDS[field]
    typed = sentences.parse_limit(name, form.get(field, ""))
    value: Value | str = FROM_CONFIG if form.get("do") == "config" else typed
    if isinstance(value, str) and value != FROM_CONFIG:
        error = no_number(form.get(field, ""), gettext(what))
        return await show_queue(request, queue_id, 422, errors={field: error}, typed=typed_in(form))
    changes: dict[str, Value] = {name: value}  # type: ignore[dict-item]
    seen = _seen({f"{name}-seen": form["seen"]} if "seen" in form else {}, changes)
    try:
        return await _change(request, queue_id, changes, form, seen)
    except Overtaken as error:
        says = await overtaken(request, queue_id, error, name)
        return await show_queue(request, queue_id, 409, errors={field: says}, typed=typed_in(form))
    except BadValue as error:
        says = sentence(error, error.problem)
        return await show_queue(request, queue_id, 422, errors={field: says}, typed=typed_in(form))


async def limits(request: Request, queue_id: str, form: Form) -> Response:
    """Changes any limits: those whose field differs from what the page showed, or whose box is ticked."""
    changes: dict[str, Value] = {}
    errors: dict[str, str] = {}
    for name in NAMES:
        text = form.get(name, "")
        value = sentences.parse_limit(name, text)
        if form.get(f"{name}-config") == "1":
            changes[name] = "config"
        elif text.strip() == form.get(f"{name}-seen", ""):
            continue
        elif isinstance(value, str):
            errors[name] = value
        else:
            changes[name] = value
    if not changes and not errors:
        errors[""] = _("Nothing was changed: every limit is as it was.")
    if errors:
        return await show_limits(request, queue_id, 422, errors=errors, typed=form)
    try:
        return await _change(request, queue_id, changes, form, _seen(form, changes))
    except Overtaken as error:
        errors = {name: await overtaken(request, queue_id, error, name) for name in error.names}
        return await show_limits(request, queue_id, 409, errors=errors, typed={**form, "": "overtaken"})
    except BadValue as error:
        return await show_limits(request, queue_id, 422, errors={error.at: sentence(error, error.problem)}, typed=form)
    except StoreUnavailable as error:
        again = form.get("request_id", "")
        return await show_limits(request, queue_id, 503, problem=f"{error} {_(PRESS_AGAIN)}", typed=form, request_id=again)


def _seen(form: Form, changes: Mapping[str, Value]) -> dict[str, int | None]:
    """What the page showed of the limits that are to change; of a page of ours it is always a number or empty."""
    shown = {name: form[f"{name}-seen"] for name in changes if f"{name}-seen" in form}
    return {name: int(text) if text else None for name, text in shown.items() if not text or (text.isascii() and text.isdigit())}


async def overtaken(request: Request, queue_id: str, error: Overtaken, name: str) -> str:
    """What is said to the later of two operators."""
    desk(request).watch.changed(error.now)
    now = getattr(error.now.limits, name)
    found = await who_set(desk(request).db, error.now, name, now)
    by = found.who if found else _("somebody else")
    return _("Meanwhile %(by)s changed it from %(seen)s to %(now)s. Nothing was done; send again to change that.") % {
        "by": by, "seen": words.limit(error.seen[name], name), "now": words.limit(now, name),
    }  # fmt: skip


async def _change(
    request: Request, queue_id: str, changes: Mapping[str, Value], form: Form, seen: Mapping[str, int | None]
) -> Response:
    request_id = request_id_for(queue_id, "limits", form)
    change = await desk(request).operations.change_limits(queue_id, changes, request_id, seen)
    desk(request).watch.changed(change.after)
    await audit(request).record("queue.limits", f"queue:{queue_id}", *changed(change, changes))
    return back(request, queue_id, sentences.changed(change.before, change.after))


ROUTES = [
    Route(f"/queues/{{queue_id}}/{step.__name__}", action(step), methods=["POST"]) for step in (rate, cap, inventory, limits)
]
