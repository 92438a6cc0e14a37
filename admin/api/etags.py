"""ETags of things that several may change at once: the number of their changes. A change wants `If-Match` (RFC 9110, 13.1.1)."""

from __future__ import annotations

import re
from typing import Any

from starlette.requests import Request

from admin.api.problems import Problem

_TAG = re.compile(r'"(\d{1,18})"')
# `openapi_extra` of every route that wants the header.
IF_MATCH: dict[str, Any] = {
    "name": "If-Match",
    "in": "header",
    "required": True,
    "description": "The ETag of what was read: a change since then is not overwritten (412).",
    "schema": {"type": "string"},
}


def etag_of(revision: int) -> str:
    """The tag of a revision."""
    return f'"{revision}"'


def wanted_revision(request: Request) -> int | None:
    """The revision that the change was made from; None for `*`. Raises Problem: 428 without the header, 412 for a foreign tag."""
    given = request.headers.get("if-match", "").strip()
    if not given:
        raise Problem(428, "This wants If-Match with the ETag of what you read, so that nobody's change is lost.")
    if given == "*":
        return None
    found = _TAG.fullmatch(given)
    if found is None:
        raise Problem(412, "If-Match is not an ETag of this: read it again.")
    return int(found[1])
