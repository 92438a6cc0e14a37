"""The request as the origin gets it: headers as they came, without those of this hop and the gate's own."""

from __future__ import annotations

from dataclasses import dataclass

from host.edge.messages import Headers, is_private
from host.edge.visitor import Visitor

PASS_HEADER = b"Stanchion-Pass"
# RFC 9110, section 7.6.1, and the older names that mean the same. Expect ends here as well: this hop has
# met it.
HOP_BY_HOP = frozenset(
    (
        b"connection",
        b"expect",
        b"http2-settings",
        b"keep-alive",
        b"proxy-authenticate",
        b"proxy-authentication-info",
        b"proxy-authorization",
        b"proxy-connection",
        b"te",
        b"trailer",
        b"transfer-encoding",
        b"upgrade",
    )
)
# A Connection header that names one of these would hide from the origin what the gate decided upon.
NEVER_NOMINATED = frozenset((b"content-length", b"cookie", b"host"))
FORWARDING = frozenset((b"x-forwarded-for", b"x-forwarded-proto", b"x-forwarded-host"))


@dataclass(frozen=True, slots=True)
class Incoming:
    """What decides the headers to the origin. `names` are as sent, those in `headers` are lower-case."""

    names: list[bytes]
    headers: list[tuple[bytes, bytes]]
    visitor: Visitor
    peer: str
    host: str
    host_for_origin: bytes
    chunked: bool


def origin_headers(
    incoming: Incoming,
    host: bytes,
    private_prefix: bytes,
    cookie: bytes | None,
    admission_pass: bytes | None,
) -> list[tuple[bytes, bytes]]:
    """The header list for the origin, Host first, then in the visitor's order.

    `cookie`: None leaves the Cookie headers as they came, b"" removes them, else it stands where the first
    one was.
    """
    dropped = HOP_BY_HOP | (nominated(incoming.headers) - NEVER_NOMINATED)
    if not incoming.visitor.trusted:
        # The other spelling of X-Forwarded-For (RFC 7239): made up, unless a trusted proxy wrote it.
        dropped |= {b"forwarded"}
    sent: list[tuple[bytes, bytes]] = [(b"Host", host)]
    cookie_to_send = cookie
    for (lower, value), name in zip(incoming.headers, incoming.names, strict=True):
        if lower == b"cookie" and cookie is not None:
            if cookie_to_send:
                sent.append((name, cookie_to_send))
                cookie_to_send = b""
        elif lower != b"host" and lower not in dropped and not _is_ours(lower, private_prefix):
            sent.append((name, value))
    if cookie_to_send:
        sent.append((b"Cookie", cookie_to_send))
    sent += _forwarding(incoming)
    if incoming.chunked:
        sent.append((b"Transfer-Encoding", b"chunked"))
    if admission_pass is not None:
        sent.append((PASS_HEADER, admission_pass))
    return sent


def _is_ours(lower: bytes, private_prefix: bytes) -> bool:
    # "_" reads as "-" for forwarding headers too: a CGI origin makes one variable of both spellings.
    return is_private(lower, private_prefix) or lower.replace(b"_", b"-") in FORWARDING


def _forwarding(incoming: Incoming) -> list[tuple[bytes, bytes]]:
    before = [value for name, value in incoming.headers if name == b"x-forwarded-for" and value]
    chain = before if incoming.visitor.trusted else []
    return [
        (b"X-Forwarded-For", b", ".join([*chain, incoming.peer.encode("latin-1")])),
        (b"X-Forwarded-Proto", incoming.visitor.scheme.encode("latin-1")),
        (b"X-Forwarded-Host", incoming.host.encode("latin-1")),
    ]


def nominated(headers: Headers) -> set[bytes]:
    """The lower-case names that Connection headers list: they are meant for this hop only."""
    lists = [value.lower().split(b",") for name, value in headers if name == b"connection"]
    return {option.strip() for options in lists for option in options}
