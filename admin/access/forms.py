"""Forms of the console: the token that each carries, and where they may lead."""

from __future__ import annotations

import hmac
import re
import secrets
from collections.abc import Mapping
from typing import Any

from starlette.requests import Request

from admin.bodies import read_form

CSRF_FIELD = "csrf"
HOME = "/"
_NEXT = re.compile(r"/(?:[A-Za-z0-9_~.-]+(?:/[A-Za-z0-9_~.-]+)*)?(?:\?[A-Za-z0-9_~.=&%+-]*)?")


class Forged(Exception):
    """A form that did not come from one of our pages in this session. The text says what to do."""


async def form_of(request: Request) -> Mapping[str, str]:
    """The fields of a form of ours. Raises Forged, BadBody."""
    form = await read_form(request)
    check_form(request, form)
    return form


def csrf_token(request: Request) -> str:
    """The token for the forms of this session; made when there is none."""
    token = request.session.get(CSRF_FIELD)
    if not isinstance(token, str):
        token = request.session[CSRF_FIELD] = new_token()
    return token


def check_form(request: Request, form: Mapping[str, str]) -> None:
    """Raises Forged unless the form came from a page of ours: by its token, and by the Origin that browsers send."""
    origin = request.headers.get("origin")
    if origin is not None and origin.partition("://")[2] != request.headers.get("host"):
        raise Forged("The form came from another site, so nothing was done.")
    if not _equal(form.get(CSRF_FIELD), request.session.get(CSRF_FIELD)):
        raise Forged("The page was too old, so nothing was done. Go back, reload it and try again.")


def safe_next(target: str) -> str:
    """A path of this site to go to after signing in; anything else becomes the first page."""
    return target if len(target) <= 500 and _NEXT.fullmatch(target) else HOME


def new_token() -> str:
    """Random enough to be a secret."""
    return secrets.token_urlsafe(24)


def _equal(given: Any, expected: Any) -> bool:
    if not isinstance(given, str) or not isinstance(expected, str) or not expected:
        return False
    return hmac.compare_digest(given.encode("utf-8", "surrogatepass"), expected.encode())
