"""What every form of the console does alike: checks who asks and where it came from, shows trouble, goes back to the page."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping

from starlette.requests import Request
from starlette.responses import RedirectResponse, Response

from admin.access.forms import form_of
from admin.access.needs import needs
from admin.access.permissions import Permission
from admin.console.queue_page import show_queue
from admin.operations import Refused, TooManySteps, new_request_id, request_id_of
from admin.steps import BEACON_MAX, MESSAGE_MAX
from admin.store import StoreUnavailable
from admin.words import N_, _, gettext

Form = Mapping[str, str]
Step = Callable[[Request, str, Form], Awaitable[Response]]
PRESS_AGAIN = N_("It may have happened or not. Nothing is done twice: it is safe to press the same button again.")
# Fields of the queue's page, and how much of what was typed is kept.
_MOST = {
    "count": 40, "rate": 40, "cap": 40, "inventory": 40, "over_rate": 40, "lane": 40, "text": MESSAGE_MAX, "value": BEACON_MAX,
    "visit": 100,
}  # fmt: skip


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
            return await show_queue(request, queue_id, code, problem=sentence(error), typed=typed_in(form))
        except StoreUnavailable as error:
            return await show_queue(
                request, queue_id, 503, problem=f"{error} {_(PRESS_AGAIN)}", typed=typed_in(form),
                request_id=form.get("request_id", ""),
            )  # fmt: skip

    return endpoint


def back(request: Request, queue_id: str, says: str) -> Response:
    """Back to the page of the queue, which says this once."""
    request.session["flash"] = says
    return RedirectResponse(f"/queues/{queue_id}", 303)


def request_id_for(queue_id: str, what: str, form: Form) -> str:
    """Each showing of a page has an id of its own, so a form that is sent twice is one step."""
    given = form.get("request_id", "")[:100]
    return request_id_of(queue_id, what, given) if given else new_request_id()


def typed_in(form: Form) -> dict[str, str]:
    """What was typed, so that nothing is lost on an error."""
    return {name: form[name][:length] for name, length in _MOST.items() if name in form}


def no_number(text: str, what: str) -> str:
    """The error at a field; the sentence below it says what is allowed."""
    if not text.strip():
        return _("Nothing was typed.")
    return _("“%(typed)s” is no %(what)s.") % {"typed": text.strip()[:20], "what": what}


def sentence(error: Exception, text: str = "") -> str:
    """An error, or another text, as a sentence."""
    text = gettext(text or str(error))
    return text[:1].upper() + text[1:] + ("" if text.endswith((".", "。")) else ".")
