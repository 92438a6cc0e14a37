"""Errors of the API as problem details (RFC 9457): status, title and a detail that says why."""

from __future__ import annotations

import json
from collections.abc import Mapping
from http import HTTPStatus
from typing import Any

from starlette.responses import Response

from admin.access.api_tokens import UnknownToken
from admin.access.people import Changed, UnknownPerson
from admin.bodies import BadBody
from admin.configure.document import NoSuchEntry
from admin.configure.keeper import UnknownVersion
from admin.configure.service import Faulty, Stale
from admin.keys import NoKeys
from admin.kv import KvError
from admin.limits import BadValue
from admin.operations import KeyReused, Refused, TooManySteps, UnknownQueue
from admin.publish.errors import PublishError
from admin.request_ids import request_id
from admin.state.brands import DraftMoved
from admin.state.db import StateUnavailable
from admin.state.users import LastOwner
from admin.store import RETRY_AFTER_S, StoreUnavailable
from admin.studio.content import BadContent
from admin.studio.studio import MovedOn, UnknownBrand
from admin.transfer.bundle import BadBundle
from admin.visits import VisitRefused
from edge.core.question import BadQuestion

BUSY_RETRY_AFTER_S = 600
MEDIA_TYPE = "application/problem+json"


class Problem(Exception):
    """An error answer."""

    def __init__(self, status: int, detail: str, headers: Mapping[str, str] | None = None, **members: Any) -> None:
        super().__init__(detail)
        self.status = status
        self.detail = detail
        self.headers = dict(headers or {})
        self.members = members

    def response(self) -> Response:
        """The answer."""
        body: dict[str, Any] = {"type": "about:blank", "title": title(self.status), "status": self.status, "detail": self.detail}
        if request_id():
            body["request_id"] = request_id()
        # ASCII only: a key that someone sent may hold half a surrogate pair, which UTF-8 cannot carry.
        return Response(json.dumps({**body, **self.members}), self.status, self.headers, MEDIA_TYPE)


def title(status: int) -> str:
    """The phrase of a status: with type about:blank that is the title (RFC 9457, section 4.2.1)."""
    try:
        return HTTPStatus(status).phrase
    except ValueError:
        return "Error"


def as_problem(error: Exception) -> Problem:
    """The problem for an error that the rooms below raise on purpose; anything else is a fault of ours."""
    match error:
        case Problem():
            return error
        case UnknownQueue() | UnknownPerson() | UnknownToken() | UnknownBrand():
            return Problem(404, _sentence(error))
        case VisitRefused():
            return Problem(error.status, _sentence(error), code=error.code, **error.members)
        case NoKeys():
            return Problem(501, _sentence(error), code="not_configured")
        case Changed():
            return Problem(412, "Somebody changed this since you read it, so nothing was done. Read it again.")
        case LastOwner():
            return Problem(409, "This is the last owner who can sign in: make another one first.")
        case Refused() | MovedOn():
            return Problem(409, _sentence(error))
        case TooManySteps():
            return Problem(429, _sentence(error), {"Retry-After": str(BUSY_RETRY_AFTER_S)})
        case KeyReused():
            return Problem(422, _sentence(error), code="idempotency_key_reused")
        case BadBody():
            return Problem(error.status, _sentence(error))
        case PublishError():
            at = error.field or error.file.rpartition("/")[2]
            return Problem(422, _sentence(error), errors=[{"at": at, "problem": error.what}])
        case DraftMoved():
            return Problem(412, _sentence(error))
        case BadValue() | BadContent():
            return Problem(422, _sentence(error), errors=[{"at": error.at, "problem": error.problem}])
        case NoSuchEntry() | UnknownVersion():
            return Problem(404, _sentence(error))
        case BadBundle():
            return Problem(422, _sentence(error), errors=[{"at": place, "problem": problem} for place, problem in error.faults])
        case Faulty():
            errors = [{"at": fault.path, "problem": fault.problem} for fault in error.faults]
            return Problem(422, _sentence(error), errors=errors)
        case Stale():
            return Problem(412, _sentence(error), {"ETag": f'"{error.current.etag}"'})
        case BadQuestion():
            return Problem(422, _sentence(error), errors=[{"at": error.path, "problem": error.problem}])
        case StoreUnavailable() | StateUnavailable() | KvError():
            return Problem(503, _sentence(error), {"Retry-After": str(RETRY_AFTER_S)})
        case _:
            return Problem(500, "Something failed that should not have. It is in the log.")


def _sentence(error: Exception) -> str:
    text = str(error)
    return text[:1].upper() + text[1:] + ("" if text.endswith(".") else ".")
