"""Which queue decides for a request, and why: over the API, as `stanchion explain` says it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated, Any

from fastapi import Query, Request

from admin.access.needs import needs
from admin.access.permissions import Permission
from admin.api.access import api_router
from admin.api.checks import keys
from admin.api.configuration_shapes import EXPLAIN_BODY, ExplainedShape
from admin.api.routes import described
from admin.bodies import read_json
from admin.configure.asking import Asked, explained
from admin.desk import desk
from admin.limits import BadValue
from edge.core.question import URL_MAX_CHARACTERS

_TEXTS = (("url", ""), ("method", "GET"), ("country", ""), ("client", ""))
router = api_router("explain")


async def _answer(request: Request, asked: Asked) -> Mapping[str, Any]:
    answer, note = await explained(desk(request), asked)
    return {**answer.public(), "note": note}


@router.get("/explain", response_model=ExplainedShape, responses=described(422))
@needs(Permission.SEE)
async def explain_address(
    request: Request, url: Annotated[str, Query(max_length=URL_MAX_CHARACTERS)], country: str = "", method: str = "GET",
) -> Mapping[str, Any]:  # fmt: skip
    """Which queue decides for an address and a country, and why. Nothing changes."""
    return await _answer(request, Asked(url, method, country))


@router.post("/explain", response_model=ExplainedShape, responses=described(413, 415, 422), openapi_extra=EXPLAIN_BODY)
@needs(Permission.SEE)
async def explain_request(request: Request) -> Mapping[str, Any]:
    """The same for a request with headers and cookies."""
    given = keys(await read_json(request), ("url",), ("method", "country", "client", "headers"))
    texts = {name: given.get(name, default) for name, default in _TEXTS}
    for name, text in texts.items():
        if not isinstance(text, str):
            raise BadValue(name, "must be a text")
    headers = given.get("headers", {})
    if not isinstance(headers, dict) or not all(isinstance(value, str) for value in headers.values()):
        raise BadValue("headers", "must be an object of texts")
    return await _answer(request, Asked(**texts, headers=headers))
