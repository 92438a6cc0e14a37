"""Which headers go on to the origin and back to the visitor: all but those of this hop and the gate's own."""

from __future__ import annotations

from collections.abc import Iterable

from edge.core.messages import Forward, Request

Headers = list[tuple[str, bytes]]

PASS_HEADER = "stanchion-pass"
PRIVATE_PREFIX = "stanchion-"
# RFC 9110, section 7.6.1, and the older names that mean the same. Expect ends here as well: the host has met it.
HOP_BY_HOP = {
    "connection", "expect", "http2-settings", "keep-alive", "proxy-authenticate", "proxy-authentication-info",
    "proxy-authorization", "proxy-connection", "te", "trailer", "transfer-encoding", "upgrade",
}  # fmt: skip
# A Connection header that names one of these would hide from the origin what the gate decided upon.
_NEVER_NOMINATED = {"content-length", "cookie", "host"}
_FORWARDING = {"x-forwarded-for", "x-forwarded-proto", "x-forwarded-host"}


def is_private(name: str) -> bool:
    """Whether a header is the gate's own. "_" reads as "-": a CGI origin makes one variable of both spellings."""
    return name.replace("_", "-").startswith(PRIVATE_PREFIX)


def _nominated(headers: Headers) -> set[str]:
    lists = [value.decode("latin-1").lower().split(",") for name, value in headers if name == "connection"]
    return {option.strip() for options in lists for option in options}


def to_origin(headers: Headers, request: Request, decision: Forward) -> Headers:
    """The headers for the origin, in the visitor's order. The host writes Host by itself, from the origin's address."""
    dropped = HOP_BY_HOP | (_nominated(headers) - _NEVER_NOMINATED) | {"host"}
    cookie = decision.cookie
    sent: Headers = []
    for name, value in headers:
        if name == "cookie" and cookie is not None:
            if cookie:
                sent.append((name, cookie.encode("latin-1", "replace")))
                cookie = ""
        elif name not in dropped and not is_private(name) and name.replace("_", "-") not in _FORWARDING:
            sent.append((name, value))
    sent += _forwarding(headers, request)
    if decision.origin_pass:
        sent.append((PASS_HEADER, decision.origin_pass.encode()))
    return sent


def _forwarding(headers: Headers, request: Request) -> Headers:
    # The host does not say whom it talks to, so the chain is passed on as the nearest proxy wrote it.
    chain = [(name, value) for name, value in headers if name == "x-forwarded-for" and value]
    told = [("x-forwarded-proto", request.scheme), ("x-forwarded-host", request.host)]
    return chain + [(name, value.encode("latin-1", "replace")) for name, value in told]


def to_visitor(status: int, headers: Headers) -> Headers:
    """The origin's headers for the visitor."""
    dropped = HOP_BY_HOP | (_nominated(headers) - _NEVER_NOMINATED)
    if status == 204:
        # RFC 9110, section 8.6: none in a 204, however an origin may put one there.
        dropped |= {"content-length"}
    return [(name, value) for name, value in headers if name not in dropped and not is_private(name)]


def weakest_first(headers: Iterable[tuple[str, str]]) -> list[tuple[str, str]]:
    """The same headers; of several cookies of ours the one that matters most comes last.

    Some hosts keep only the last Set-Cookie; what takes a cookie away may get lost, what gives a place or a pass may not.
    """

    def weight(header: tuple[str, str]) -> tuple[bool, bool, bool]:
        is_cookie = header[0].lower() == "set-cookie"
        name = header[1].partition("=")[0]
        return is_cookie, is_cookie and "Max-Age=0" not in header[1], is_cookie and not name.endswith(".c")

    return sorted(headers, key=weight)
