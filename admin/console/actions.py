"""Steps that forms of the console ask for: each does one operation and goes back to the page of the queue."""

from __future__ import annotations

from collections.abc import Callable

from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from admin.audit import audit
from admin.console import sentences
from admin.console.acting import PRESS_AGAIN, Form, action, back, no_number, request_id_for, sentence, typed_in
from admin.console.pages import show_reset
from admin.console.queue_page import show_queue
from admin.console.words import number, people, status
from admin.deeds import admitted, stepped
from admin.desk import desk
from admin.limits import BadValue
from admin.queue_view import QueueView
from admin.steps import ALONE, Action, check_text
from admin.store import StoreUnavailable
from admin.words import _, gettext

Says = Callable[[QueueView], str]


async def pause(request: Request, queue_id: str, form: Form) -> Response:
    """Pauses."""
    return await _control(request, queue_id, form, "pause", _("Paused: nobody is called until you resume."))


async def pause_alone(request: Request, queue_id: str, form: Form) -> Response:
    """Pauses one queue of a group."""
    return await _control(request, queue_id, form, "pause_alone", _("Paused by itself: nobody of this queue is called."))


async def resume(request: Request, queue_id: str, form: Form) -> Response:
    """Opens: ends whatever holds, or a wait for opens_at; of a queue that is paused by itself only that."""
    before = await desk(request).operations.queue(queue_id)
    if before.paused_alone and before.mode != "paused":
        return await _control(request, queue_id, form, "open_alone", _("This queue calls people again."))
    return await _control(request, queue_id, form, "resume", sentences.opened)


async def drain(request: Request, queue_id: str, form: Form) -> Response:
    """No new places."""
    return await _control(request, queue_id, form, "drain", _("Draining: no new places; those in line are called."))


async def close(request: Request, queue_id: str, form: Form) -> Response:
    """No new places, nobody is called."""
    return await _control(request, queue_id, form, "close", _("Closed: nobody gets a place or is called."))


async def maintenance(request: Request, queue_id: str, form: Form) -> Response:
    """As close, with its own page."""
    return await _control(request, queue_id, form, "maintenance", _("Maintenance: nobody gets a place or is called."))


async def message(request: Request, queue_id: str, form: Form) -> Response:
    """Shows a message to those who wait, or takes it away."""
    try:
        text = check_text("text", form.get("text", ""))
    except BadValue as error:
        return await show_queue(request, queue_id, 422, errors={"text": sentence(error, error.problem)}, typed=typed_in(form))
    says = _("The message is shown to those who wait.") if text else _("The message is gone.")
    return await _control(request, queue_id, form, "message", says, text)


async def beacon(request: Request, queue_id: str, form: Form) -> Response:
    """Gives the value of the public random round that the draw waits for."""
    try:
        value = check_text("value", form.get("value", ""))
    except BadValue as error:
        return await show_queue(request, queue_id, 422, errors={"value": sentence(error, error.problem)}, typed=typed_in(form))
    says = _("The value is in the draw. The next request opens the queue.")
    return await _control(request, queue_id, form, "beacon", says, value)


async def reset(request: Request, queue_id: str, form: Form) -> Response:
    """Resets, when the queue's id was typed."""
    typed = form.get("confirm", "").strip()
    if typed != queue_id:
        error = _("Type %(queue)s to reset this queue, or go back.") % {"queue": queue_id}
        return await show_reset(request, queue_id, 422, error=error, typed=typed, request_id=form.get("request_id", ""))
    try:
        return await _control(request, queue_id, form, "reset", _("Reset: a new line has begun."))
    except StoreUnavailable as error:
        again = form.get("request_id", "")
        problem = f"{error} {_(PRESS_AGAIN)}"
        return await show_reset(request, queue_id, 503, problem=problem, typed=typed, request_id=again)


async def start(request: Request, queue_id: str, form: Form) -> Response:
    """Starts a queue that has never run."""
    if form.get("never_ran") != "1":
        error = {"never_ran": _("Tick this first: a start counts nobody who came in before.")}
        return await show_queue(request, queue_id, 422, errors=error)
    view = await desk(request).operations.start(queue_id)
    desk(request).watch.changed(view)
    await audit(request).record("queue.start", f"queue:{queue_id}", after={"status": view.status})
    return back(request, queue_id, _("The queue is %(status)s.") % {"status": status(view.status).lower()})


async def admit(request: Request, queue_id: str, form: Form) -> Response:
    """Calls a batch."""
    count = sentences.parse_count(form.get("count", ""))
    if count is None:
        says = no_number(form.get("count", ""), _("number of people"))
        return await show_queue(request, queue_id, 422, errors={"count": says}, typed=typed_in(form))
    over_rate, lane = form.get("over_rate") == "1", form.get("lane", "") or None
    request_id = request_id_for(queue_id, "admit", form)
    try:
        done = await desk(request).operations.admit(queue_id, count, request_id, over_rate=over_rate, lane=lane)
    except BadValue as error:
        return await show_queue(request, queue_id, 422, errors={"count": sentence(error, error.problem)}, typed=typed_in(form))
    desk(request).watch.changed(done.queue)
    await audit(request).record("queue.admit", f"queue:{queue_id}", after=admitted(done, over_rate=over_rate, lane=lane))
    values = {"called": people(done.called), "asked": number(count), "note": gettext(done.note) if done.note else ""}
    if done.note:
        return back(request, queue_id, _("Called %(called)s of %(asked)s asked for: %(note)s.") % values)
    return back(request, queue_id, _("Called %(called)s.") % {"called": values["called"]})


async def _control(request: Request, queue_id: str, form: Form, what: Action, says: str | Says, text: str = "") -> Response:
    # Another text is another step, also from the same showing of the page.
    name = f"{what} {text}" if text else what
    operations = desk(request).operations
    before = await operations.queue(queue_id)
    view = await operations.control(queue_id, what, request_id_for(queue_id, name, form), text)
    desk(request).watch.changed(view)
    await audit(request).record(f"queue.{what}", f"queue:{queue_id}", *stepped(what, before, view))
    said = says if isinstance(says, str) else says(view)
    concerns_all = view.queue.group and what not in ALONE
    whom = " " + _("It concerns %(queues)s.") % {"queues": sentences.concerned(view)} if concerns_all else ""
    return back(request, queue_id, said + whom)


ROUTES = [
    Route(f"/queues/{{queue_id}}/{step.__name__}", action(step), methods=["POST"])
    for step in (pause, pause_alone, resume, drain, close, maintenance, message, beacon, reset, start, admit)
]
