"""Signed-in operators: what a session cookie holds, how it ends, and the token that every form carries.

The cookie is signed, not secret. It ends SESSION_IDLE_S after the last page or action; automatic polling does not prolong it.
"""

from __future__ import annotations

import hmac
import re
import secrets
from collections import OrderedDict
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from starlette.requests import Request

SESSION_IDLE_S = 8 * 3600
# A cookie is written again at most this often.
SESSION_TOUCH_S = 300
SIGNED_OUT_AT_MOST = 10_000
CSRF_FIELD = "csrf"
HOME = "/"
_NEXT = re.compile(r"/(?:[A-Za-z0-9_~.-]+(?:/[A-Za-z0-9_~.-]+)*)?(?:\?[A-Za-z0-9_~.=&%+-]*)?")


@dataclass(frozen=True)
class Operator:
    """Who is signed in."""

    name: str


class SignInNeeded(Exception):
    """Nobody is signed in on this request."""


class Forged(Exception):
    """A form that did not come from one of our pages in this session. The text says what to do."""


class Sessions:
    """Reads and writes `request.session`. `fingerprint` ends every session when it changes."""

    def __init__(self, fingerprint: str) -> None:
        self._fingerprint = fingerprint
        self._signed_out: OrderedDict[str, float] = OrderedDict()

    def sign_in(self, request: Request, operator: Operator, now_s: float) -> None:
        """Begins a session; nothing of the one before is kept."""
        request.session.clear()
        request.session.update(
            id=secrets.token_urlsafe(12), user=operator.name, at=int(now_s), print=self._fingerprint, csrf=_new_token()
        )

    def sign_out(self, request: Request, now_s: float) -> None:
        """Ends the session here and for every copy of its cookie."""
        session_id = request.session.get("id")
        if isinstance(session_id, str):
            self._signed_out[session_id] = now_s
            while self._signed_out and (
                len(self._signed_out) > SIGNED_OUT_AT_MOST or next(iter(self._signed_out.values())) < now_s - SESSION_IDLE_S
            ):
                self._signed_out.popitem(last=False)
        request.session.clear()

    def operator(self, request: Request, now_s: float, *, touch: bool = True) -> Operator:
        """Who is signed in; `touch` counts the request as a sign of life. Raises SignInNeeded."""
        session = request.session
        user, at_s = session.get("user"), session.get("at")
        if not isinstance(user, str) or not isinstance(at_s, int) or now_s - at_s > SESSION_IDLE_S:
            raise SignInNeeded
        if session.get("id") in self._signed_out or not _equal(session.get("print"), self._fingerprint):
            raise SignInNeeded
        if touch and now_s - at_s > SESSION_TOUCH_S:
            session["at"] = int(now_s)
        return Operator(user)


def csrf_token(request: Request) -> str:
    """The token for the forms of this session; made when there is none."""
    token = request.session.get("csrf")
    if not isinstance(token, str):
        token = request.session["csrf"] = _new_token()
    return token


def check_form(request: Request, form: Mapping[str, str]) -> None:
    """Raises Forged unless the form came from a page of ours: by its token, and by the Origin that browsers send."""
    origin = request.headers.get("origin")
    if origin is not None and origin.partition("://")[2] != request.headers.get("host"):
        raise Forged("The form came from another site, so nothing was done.")
    if not _equal(form.get(CSRF_FIELD), request.session.get("csrf")):
        raise Forged("The page was too old, so nothing was done. Go back, reload it and try again.")


def safe_next(target: str) -> str:
    """A path of this site to go to after signing in; anything else becomes the first page."""
    return target if len(target) <= 500 and _NEXT.fullmatch(target) else HOME


def _new_token() -> str:
    return secrets.token_urlsafe(24)


def _equal(given: Any, expected: Any) -> bool:
    if not isinstance(given, str) or not isinstance(expected, str) or not expected:
        return False
    return hmac.compare_digest(given.encode("utf-8", "surrogatepass"), expected.encode())
