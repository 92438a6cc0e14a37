"""From an error to an answer: problem details under /api, a page elsewhere."""

from __future__ import annotations

import traceback

from fastapi import FastAPI
from fastapi.exceptions import RequestValidationError
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import JSONResponse, RedirectResponse, Response

from admin.access.actor import NotAllowed, SignInNeeded
from admin.access.api_tokens import UnknownToken
from admin.access.forms import Forged
from admin.access.needs import access_of
from admin.access.people import Changed, UnknownPerson
from admin.access.permissions import roles_with
from admin.api.access import forbidden
from admin.api.problems import Problem, as_problem, title
from admin.bodies import BadBody
from admin.configure.document import NoSuchEntry
from admin.configure.keeper import UnknownVersion
from admin.configure.service import Faulty, Stale
from admin.console.render import error_page
from admin.console.sign_in import SIGN_IN, sign_in_path
from admin.keys import NoKeys
from admin.kv import KvError
from admin.limits import BadValue
from admin.log import log
from admin.operations import KeyReused, Refused, TooManySteps, UnknownQueue
from admin.publish.errors import PublishError
from admin.security import HEADERS
from admin.state.brands import DraftMoved
from admin.state.db import StateUnavailable
from admin.state.users import LastOwner
from admin.store import StoreUnavailable
from admin.studio.content import BadContent
from admin.studio.studio import MovedOn, UnknownBrand
from admin.transfer.bundle import BadBundle
from admin.visits import VisitRefused
from admin.words import _
from edge.core.question import BadQuestion

_ON_PURPOSE = (
    Problem, UnknownQueue, UnknownPerson, UnknownToken, Changed, LastOwner, Refused, TooManySteps, BadBody, BadValue,
    StoreUnavailable, VisitRefused, NoKeys, StateUnavailable, NoSuchEntry, UnknownVersion, Faulty, Stale,
    KeyReused, BadQuestion, UnknownBrand, BadContent, MovedOn, DraftMoved, PublishError, KvError, BadBundle,
)  # fmt: skip


def _is_api(request: Request) -> bool:
    return request.url.path.startswith("/api/") or request.url.path == "/metrics"


def handle_errors(app: FastAPI) -> None:
    """Registers every handler."""
    for kind in _ON_PURPOSE:
        app.add_exception_handler(kind, _on_purpose)
    app.add_exception_handler(HTTPException, _on_http_exception)
    app.add_exception_handler(RequestValidationError, _on_bad_request)
    app.add_exception_handler(SignInNeeded, _on_sign_in_needed)
    app.add_exception_handler(NotAllowed, _on_not_allowed)
    app.add_exception_handler(Forged, _on_forged)
    app.add_exception_handler(Exception, _on_fault)


async def _on_purpose(request: Request, error: Exception) -> Response:
    problem = as_problem(error)
    if _is_api(request):
        return problem.response()
    answer = error_page(request, problem.status, title(problem.status), problem.detail)
    answer.headers.update(problem.headers)
    return answer


async def _on_http_exception(request: Request, error: Exception) -> Response:
    assert isinstance(error, HTTPException)
    says = {
        404: _("There is nothing at this address.") if not _is_api(request) else "There is nothing at this address.",
        405: f"{request.method} is not possible here; {(error.headers or {}).get('Allow', 'another method')} is.",
    }
    problem = Problem(error.status_code, says.get(error.status_code, error.detail), error.headers)
    return await _on_purpose(request, problem)


async def _on_bad_request(request: Request, error: Exception) -> Response:
    assert isinstance(error, RequestValidationError)
    faults = [{"at": ".".join(map(str, fault["loc"][1:])), "problem": fault["msg"]} for fault in error.errors()]
    detail = "; ".join(f"{fault['at']}: {fault['problem']}" for fault in faults)
    return await _on_purpose(request, Problem(422, f"{detail}.", errors=faults))


async def _on_sign_in_needed(request: Request, error: Exception) -> Response:
    access = access_of(request.scope.get("endpoint"))
    if access and access.polls:
        return JSONResponse({"signed_out": True}, 401)
    if request.method in ("GET", "HEAD"):
        return RedirectResponse(sign_in_path(request), 303)
    return error_page(request, 401, _("You are signed out"), _("Nothing was done. Sign in, then do it again."), back=SIGN_IN)


async def _on_not_allowed(request: Request, error: Exception) -> Response:
    assert isinstance(error, NotAllowed)
    if _is_api(request) or error.actor.via == "api":
        return forbidden(error).response()
    text = _("Your role is %(role)s; this needs %(roles)s. Nothing was done. An owner can change roles under People.") % {
        "role": error.actor.role, "roles": _(" or ").join(roles_with(error.permission))
    }  # fmt: skip
    return error_page(request, 403, _("Not for your role"), text)


async def _on_forged(request: Request, error: Exception) -> Response:
    return error_page(request, 403, _("Not done"), str(error))


async def _on_fault(request: Request, error: Exception) -> Response:
    log("fault", path=request.url.path, trace="".join(traceback.format_exception(error)))
    problem = as_problem(error)
    answer = problem.response() if _is_api(request) else Response(problem.detail, 500, media_type="text/plain")
    # The last resort lies outside the layer that sets them.
    answer.headers.update({**HEADERS, "Cache-Control": "no-store"})
    return answer
