"""Forms of the console. Each checks who asks and where the form came from, does one operation and goes back to the page."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping

from starlette.requests import Request
from starlette.responses import RedirectResponse, Response
from starlette.routing import Route

from admin.access.forms import form_of
from admin.access.needs import needs
from admin.access.permissions import Permission
from admin.audit import audit
from admin.console import sentences
from admin.console.pages import show_limits, show_queue, show_reset
from admin.console.words import people, status
from admin.deeds import admitted, changed, stepped
from admin.desk import desk
from admin.limits import FROM_CONFIG, NAMES, BadValue, Value
from admin.operations import Refused, TooManySteps, new_request_id, request_id_of
from admin.queue_view import QueueView
from admin.steps import ALONE, BEACON_MAX, MESSAGE_MAX, Action, check_text
from admin.store import StoreUnavailable

Form = Mapping[str, str]
Says = Callable[[QueueView], str]
Step = Callable[[Request, str, Form], Awaitable[Response]]
PRESS_AGAIN = "It may have happened or not. Nothing is done twice: it is safe to press the same button again."


def action(step: Step) -> Callable[[Request], Awaitable[Response]]:
    """An endpoint around a step: signed in, a form of ours, and trouble shown on the page of the queue."""

    @needs(Permission.OPERATE)
    async def endpoint(request: Request) -> Response:
        form = await form_of(request)
        queue_id = request.path_params["queue_id"]
        try:
            return await step(request, queue_id, form)
        except (Refused, TooManySteps) as error:
            code = 409 if isinstance(error, Refused) else 429
            return await show_queue(request, queue_id, code, problem=_sentence(error), typed=_typed(form))
        except StoreUnavailable as error:
            return await show_queue(
                request, queue_id, 503, problem=f"{error} {PRESS_AGAIN}", typed=_typed(form),
                request_id=form.get("request_id", ""),
            )  # fmt: skip

    return endpoint


async def pause(request: Request, queue_id: str, form: Form) -> Response:
    """Pauses."""
    return await _control(request, queue_id, form, "pause", "Paused: nobody is called until you resume.")


async def pause_alone(request: Request, queue_id: str, form: Form) -> Response:
    """Pauses one queue of a group."""
    return await _control(request, queue_id, form, "pause_alone", "Paused by itself: nobody of this queue is called.")


async def resume(request: Request, queue_id: str, form: Form) -> Response:
    """Opens: ends whatever holds, or a wait for opens_at; of a queue that is paused by itself only that."""
    before = await desk(request).operations.queue(queue_id)
    if before.paused_alone and before.mode != "paused":
        return await _control(request, queue_id, form, "open_alone", "This queue calls people again.")
    return await _control(request, queue_id, form, "resume", sentences.opened)


async def drain(request: Request, queue_id: str, form: Form) -> Response:
    """No new places."""
    return await _control(request, queue_id, form, "drain", "Draining: no new places; those in line are called.")


async def close(request: Request, queue_id: str, form: Form) -> Response:
    """No new places, nobody is called."""
    return await _control(request, queue_id, form, "close", "Closed: nobody gets a place or is called.")


async def maintenance(request: Request, queue_id: str, form: Form) -> Response:
    """As close, with its own page."""
    return await _control(request, queue_id, form, "maintenance", "Maintenance: nobody gets a place or is called.")


async def message(request: Request, queue_id: str, form: Form) -> Response:
    """Shows a message to those who wait, or takes it away."""
    try:
        text = check_text("text", form.get("text", ""))
    except BadValue as error:
        return await show_queue(request, queue_id, 422, errors={"text": _sentence(error, error.problem)}, typed=_typed(form))
    says = "The message is shown to those who wait." if text else "The message is gone."
    return await _control(request, queue_id, form, "message", says, text)


async def beacon(request: Request, queue_id: str, form: Form) -> Response:
    """Gives the value of the public random round that the draw waits for."""
    try:
        value = check_text("value", form.get("value", ""))
    except BadValue as error:
        return await show_queue(request, queue_id, 422, errors={"value": _sentence(error, error.problem)}, typed=_typed(form))
    return await _control(request, queue_id, form, "beacon", "The value is in the draw. The next request opens the queue.", value)


async def reset(request: Request, queue_id: str, form: Form) -> Response:
    """Resets, when the queue's id was typed."""
    typed = form.get("confirm", "").strip()
    if typed != queue_id:
        error = f"Type {queue_id} to reset this queue, or go back."
        return await show_reset(request, queue_id, 422, error=error, typed=typed, request_id=form.get("request_id", ""))
    try:
        return await _control(request, queue_id, form, "reset", "Reset: a new line has begun.")
    except StoreUnavailable as error:
        again = form.get("request_id", "")
        problem = f"{error} {PRESS_AGAIN}"
        return await show_reset(request, queue_id, 503, problem=problem, typed=typed, request_id=again)


async def start(request: Request, queue_id: str, form: Form) -> Response:
    """Starts a queue that has never run."""
    if form.get("never_ran") != "1":
        error = {"never_ran": "Tick this first: a start counts nobody who came in before."}
        return await show_queue(request, queue_id, 422, errors=error)
    view = await desk(request).operations.start(queue_id)
    desk(request).watch.changed(view)
    await audit(request).record("queue.start", f"queue:{queue_id}", after={"status": view.status})
    return _back(request, queue_id, f"The queue is {status(view.status).lower()}.")


async def admit(request: Request, queue_id: str, form: Form) -> Response:
    """Calls a batch."""
    count = sentences.parse_count(form.get("count", ""))
    if count is None:
        return await show_queue(request, queue_id, 422, errors={"count": _admit_error(form)}, typed=_typed(form))
    over_rate, lane = form.get("over_rate") == "1", form.get("lane", "") or None
    request_id = _request_id(queue_id, "admit", form)
    try:
        done = await desk(request).operations.admit(queue_id, count, request_id, over_rate=over_rate, lane=lane)
    except BadValue as error:
        return await show_queue(request, queue_id, 422, errors={"count": _sentence(error, error.problem)}, typed=_typed(form))
    desk(request).watch.changed(done.queue)
    await audit(request).record("queue.admit", f"queue:{queue_id}", after=admitted(done, over_rate=over_rate, lane=lane))
    why = f" of {count:,} asked for: {done.note}" if done.note else ""
    return _back(request, queue_id, f"Called {people(done.called)}{why}.")


async def rate(request: Request, queue_id: str, form: Form) -> Response:
    """Changes the rate, or takes it back to the configuration."""
    typed = sentences.parse_limit("admit_per_minute", form.get("rate", ""))
    value: Value | str = FROM_CONFIG if form.get("do") == "config" else typed
    if isinstance(value, str) and value != FROM_CONFIG:
        error = _no_number(form.get("rate", ""), "rate")
        return await show_queue(request, queue_id, 422, errors={"rate": error}, typed=_typed(form))
    try:
        return await _change_limits(request, queue_id, {"admit_per_minute": value}, form)  # type: ignore[dict-item]
    except BadValue as error:
        return await show_queue(request, queue_id, 422, errors={"rate": _sentence(error, error.problem)}, typed=_typed(form))


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
        errors[""] = "Nothing was changed: every limit is as it was."
    if errors:
        return await show_limits(request, queue_id, 422, errors=errors, typed=form)
    try:
        return await _change_limits(request, queue_id, changes, form)
    except BadValue as error:
        return await show_limits(request, queue_id, 422, errors={error.at: _sentence(error, error.problem)}, typed=form)
    except StoreUnavailable as error:
        again = form.get("request_id", "")
        return await show_limits(request, queue_id, 503, problem=f"{error} {PRESS_AGAIN}", typed=form, request_id=again)


async def _change_limits(request: Request, queue_id: str, changes: Mapping[str, Value], form: Form) -> Response:
    request_id = _request_id(queue_id, "limits", form)
    change = await desk(request).operations.change_limits(queue_id, changes, request_id)
    desk(request).watch.changed(change.after)
    await audit(request).record("queue.limits", f"queue:{queue_id}", *changed(change, changes))
    return _back(request, queue_id, sentences.changed(change.before, change.after))


async def _control(request: Request, queue_id: str, form: Form, what: Action, says: str | Says, text: str = "") -> Response:
    # Another text is another step, also from the same showing of the page.
    name = f"{what} {text}" if text else what
    operations = desk(request).operations
    before = await operations.queue(queue_id)
    view = await operations.control(queue_id, what, _request_id(queue_id, name, form), text)
    desk(request).watch.changed(view)
    await audit(request).record(f"queue.{what}", f"queue:{queue_id}", *stepped(what, before, view))
    said = says if isinstance(says, str) else says(view)
    concerns_all = view.queue.group and what not in ALONE
    return _back(request, queue_id, f"{said} It concerns {view.concerned}." if concerns_all else said)


def _back(request: Request, queue_id: str, says: str) -> Response:
    request.session["flash"] = says
    return RedirectResponse(f"/queues/{queue_id}", 303)


def _request_id(queue_id: str, what: str, form: Form) -> str:
    """Each showing of a page has an id of its own, so a form that is sent twice is one step."""
    given = form.get("request_id", "")[:100]
    return request_id_of(queue_id, what, given) if given else new_request_id()


def _typed(form: Form) -> dict[str, str]:
    most = {"count": 40, "rate": 40, "over_rate": 40, "lane": 40, "text": MESSAGE_MAX, "value": BEACON_MAX}
    return {name: form[name][:length] for name, length in most.items() if name in form}


def _admit_error(form: Form) -> str:
    return _no_number(form.get("count", ""), "number of people")


def _no_number(text: str, what: str) -> str:
    """The error at a field; the sentence below it says what is allowed."""
    return f"“{text.strip()[:20]}” is no {what}." if text.strip() else "Nothing was typed."


def _sentence(error: Exception, text: str = "") -> str:
    text = text or str(error)
    return text[:1].upper() + text[1:] + ("" if text.endswith(".") else ".")


ROUTES = [
    Route(f"/queues/{{queue_id}}/{step.__name__}", action(step), methods=["POST"])
    for step in (pause, pause_alone, resume, drain, close, maintenance, message, beacon, reset, start, admit, rate, limits)
]
