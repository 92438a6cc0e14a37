"""Request bodies, bounded and strict: JSON for the API, forms for the console."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any
from urllib.parse import parse_qsl

from starlette.requests import ClientDisconnect, Request

from edge.core import json_text
from edge.core.errors import ConfigError

BODY_MAX_BYTES = 65_536
FORM_MAX_FIELDS = 100


class BadBody(Exception):
    """The body cannot be read. `status` is the HTTP status to answer with; the text says why."""

    def __init__(self, status: int, problem: str) -> None:
        super().__init__(problem)
        self.status = status


async def read_json(request: Request, at_most_bytes: int = BODY_MAX_BYTES) -> Any:
    """The JSON value of the body. Raises BadBody: 413 too large, 415 not JSON by its type, 422 not JSON by its content."""
    return _parse_json(request, await _read(request, at_most_bytes))


def _parse_json(request: Request, data: bytes) -> Any:
    if _media_type(request) != "application/json":
        raise BadBody(415, "the body must be JSON: send it with Content-Type: application/json")
    try:
        return json_text.read_json(data)
    except ConfigError as error:
        raise BadBody(422, f"the body: {error}" if error.path else f"the body {error.problem}") from None


async def read_nothing(request: Request) -> None:
    """For steps that take no body: nothing, or an empty JSON object. Raises BadBody."""
    data = await _read(request)
    if data and _parse_json(request, data) != {}:
        raise BadBody(422, "this takes no values: leave the body empty")


async def read_form(
    request: Request, at_most_bytes: int = BODY_MAX_BYTES, at_most_fields: int = FORM_MAX_FIELDS
) -> Mapping[str, str]:
    """The fields of a form; of a field sent twice, the first counts. Raises BadBody: 413, 415, 422."""
    return dict(reversed(await read_pairs(request, at_most_bytes, at_most_fields)))


async def read_pairs(request: Request, at_most_bytes: int, at_most_fields: int) -> list[tuple[str, str]]:
    """Names and values of a form, in the order in which they were sent. Raises BadBody: 413, 415, 422."""
    data = await _read(request, at_most_bytes)
    if _media_type(request) != "application/x-www-form-urlencoded":
        raise BadBody(415, "the body must be a form: application/x-www-form-urlencoded")
    try:
        return parse_qsl(data.decode("utf-8"), keep_blank_values=True, max_num_fields=at_most_fields, errors="strict")
    except ValueError:
        raise BadBody(422, "the form cannot be read") from None


def _media_type(request: Request) -> str:
    return request.headers.get("content-type", "").partition(";")[0].strip().lower()


async def _read(request: Request, at_most_bytes: int = BODY_MAX_BYTES) -> bytes:
    data = bytearray()
    try:
        async for part in request.stream():
            data += part
            if len(data) > at_most_bytes:
                raise BadBody(413, f"the body is larger than {at_most_bytes} bytes")
    except ClientDisconnect:
        raise BadBody(422, "the body ended early") from None
    return bytes(data)
