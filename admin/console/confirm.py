"""Asks before a step that turns people away: what it does, in words and in today's numbers."""

from __future__ import annotations

from collections.abc import Mapping

from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from admin.access.needs import needs
from admin.access.permissions import Permission
from admin.console import sentences
from admin.console.render import page
from admin.console.words import number
from admin.desk import desk
from admin.operations import new_request_id
from admin.queue_view import QueueView
from admin.watch import Look
from admin.words import N_, _, gettext

# Step: question, button.
QUESTIONS: Mapping[str, tuple[str, str]] = {
    "drain": (N_("Drain “%(queue)s”?"), N_("Drain the queue")),
    "close": (N_("Close “%(queue)s”?"), N_("Close the queue")),
    "maintenance": (N_("Put “%(queue)s” into maintenance?"), N_("Begin maintenance")),
}


@needs(Permission.OPERATE)
async def confirm(request: Request) -> Response:
    """The question before one of these steps."""
    step = request.url.path.rpartition("/")[2].removeprefix("confirm-")
    question, button = QUESTIONS[step]
    room = desk(request)
    queue = await room.operations.configured(request.path_params["queue_id"])
    look: Look = (await room.watch.look([queue])).looks[0]
    says = _consequences(step, look.view) if look.view else []
    return page(
        request, "confirm.html", look=look, step=step, question=gettext(question) % {"queue": queue.name}, button=gettext(button),
        says=says, request_id=new_request_id(),
    )  # fmt: skip


def _consequences(step: str, view: QueueView) -> list[str]:
    waiting, inside = {"people": number(view.waiting)}, {"people": number(view.inside)}
    says = [_("Newcomers get no place: they see that the queue is closed.")]
    if step == "maintenance":
        says = [_("Newcomers get no place: they see the page of a maintenance.")]
    if step == "drain":
        says.append(_("%(people)s who wait are called as before.") % waiting)
    else:
        says.append(_("%(people)s who wait are not called. They keep their places.") % waiting)
    says.append(_("%(people)s inside stay inside.") % inside)
    if view.queue.group:
        says.append(_("It concerns %(queues)s.") % {"queues": sentences.concerned(view)})
    says.append(_("You can take it back on the queue's page."))
    return says


ROUTES = [Route(f"/queues/{{queue_id}}/confirm-{step}", confirm, methods=["GET"]) for step in QUESTIONS]
