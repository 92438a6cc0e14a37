"""The header `Stanchion-Token`: tokens of clients that keep no cookies, by the same rules as cookies.

A client that sends the header, even if only with the word `new`, speaks by it: our cookies in its request count for nothing,
and its answers carry no Set-Cookie of ours but, whenever there is something to keep, one `Stanchion-Token` with the value to send
from then on. So a client begins with `new`, and keeps what it was told last.
"""

from __future__ import annotations

from dataclasses import replace

from edge.core.cookies import VALUES_AT_MOST, Cookies
from edge.core.keyring import TOKEN_MAX_BYTES
from edge.core.messages import Context, Request

NAME = "stanchion-token"
NEW = "new"


def jar_of(request: Request, context: Context) -> Cookies:
    """The tokens that a request carries: those of its header, where it has one, else those of its cookies."""
    jar = context.cookies.read(request.header("cookie"))
    header = request.header(NAME)
    return replace(jar, tokens=_values(header)) if header else jar


def _values(header: str) -> tuple[str, ...]:
    """The tokens of a header: one, or several for several queues, separated by commas."""
    values = (value.strip() for value in header[: VALUES_AT_MOST * (TOKEN_MAX_BYTES + 2)].split(","))
    return tuple(value for value in values if value and value != NEW)[:VALUES_AT_MOST]


def handed(request: Request, set_cookies: tuple[str, ...]) -> tuple[tuple[str, str], ...]:
    """The headers that hand out tokens, made of Set-Cookie values: those, or what a client without cookies keeps."""
    if not set_cookies or not request.header(NAME):
        return tuple(("Set-Cookie", cookie) for cookie in set_cookies)
    values = (cookie.partition(";")[0].partition("=")[2] for cookie in set_cookies)
    return (("Stanchion-Token", next(filter(None, values), NEW)),)
