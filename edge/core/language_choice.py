"""A visitor without a script chooses the language of the page: /.stanchion/language?to=de, from a form on the page itself."""

from __future__ import annotations

from edge.core import answers
from edge.core.cookies import LANGUAGE_COOKIE
from edge.core.invites import query_of, safe_path
from edge.core.messages import Request, Respond

_MAX_AGE_S = 365 * 24 * 3600
_TAG_MAX_CHARS = 35


def chosen_language(request: Request, back: str) -> Respond:
    """303 to `back`, the address that the visitor was at, with the cookie that the page's script would set.

    Which languages there are is seen when a page is made: an unknown one changes nothing there.
    """
    wanted = query_of(request.target).get("to", "")
    if not wanted.replace("-", "").isalnum() or not wanted.isascii() or len(wanted) > _TAG_MAX_CHARS:
        return answers.problem(request, 400, "bad request", "to must be a language tag, as de or pt-BR")
    cookie = f"{LANGUAGE_COOKIE}={wanted}; Path=/; Max-Age={_MAX_AGE_S}; SameSite=Lax"
    headers = (*answers.NO_STORE, ("Location", safe_path(back) or "/"))
    # Another site may send its readers here; it does not choose their language.
    is_foreign = request.header("sec-fetch-site") in ("cross-site", "same-site")
    return Respond(303, headers if is_foreign else (*headers, ("Set-Cookie", cookie)), "", "language")
