"""Ends the visit of one person, by the number of the place or the visitor's id."""

from __future__ import annotations

from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from admin.audit import audit
from admin.console.acting import Form, action, back, sentence, typed_in
from admin.console.queue_page import show_queue
from admin.desk import desk
from admin.limits import BadValue
from admin.words import _


async def revoke(request: Request, queue_id: str, form: Form) -> Response:
    """Ends it at once; a repeat finds nobody inside any more."""
    who, lane = form.get("visit", "").strip(), form.get("lane", "") or None
    try:
        view = await desk(request).operations.revoke(queue_id, who, lane)
    except BadValue as error:
        says = sentence(error, error.problem)
        return await show_queue(request, queue_id, 422, errors={"visit": says}, typed=typed_in(form))
    desk(request).watch.changed(view)
    await audit(request).record("queue.revoke", f"queue:{queue_id}", after={"visit": who, "lane": lane})
    return back(request, queue_id, _("The visit of %(who)s has ended. Its pass is refused from now on.") % {"who": who})


ROUTES = [Route("/queues/{queue_id}/revoke", action(revoke), methods=["POST"])]
