"""The button that takes back the last change of a queue."""

from __future__ import annotations

from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from admin.audit import audit
from admin.console import sentences
from admin.console.acting import Form, action, back, request_id_for, sentence
from admin.console.queue_page import show_queue
from admin.desk import desk
from admin.limits import BadValue
from admin.operate.take_back import take_back
from admin.words import _


async def undo(request: Request, queue_id: str, form: Form) -> Response:
    """Takes back the change that the form names; refused when another one came after it."""
    change_id = form.get("change", "")[:20]
    request_id = request_id_for(queue_id, f"undo {change_id}", form)
    try:
        done = await take_back(desk(request), audit(request), queue_id, change_id, request_id)
    except BadValue as error:
        return await show_queue(request, queue_id, 422, problem=sentence(error, error.problem))
    what = " " + sentences.changed(done.change.before, done.change.after) if done.change else ""
    return back(request, queue_id, _("Taken back.") + what)


ROUTES = [Route("/queues/{queue_id}/undo", action(undo), methods=["POST"])]
