"""The request target and the host: read, judged, never rewritten (RFC 9112, section 3.2).

What goes to the origin is a slice of the bytes that came, or a refusal. Bytes that the HTTP client cannot
send as they are (above 0x7f: RFC 3986 has them percent-encoded) are refused, not encoded.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

from host.edge import builtin
from host.edge.messages import Headers

# Visible ASCII: what h11 sends, and all that RFC 3986 allows, and more.
_SENDABLE = re.compile(rb"[\x21-\x7e]+\Z")
_ABSOLUTE = re.compile(rb"(?i)(https?)://([^/?#]*)(.*)\Z", re.DOTALL)
_HOST = re.compile(rb"(?:\[[0-9A-Fa-f:.]+\]|[A-Za-z0-9._~!$&'()*+;=%-]+)(?::[0-9]{0,5}\.?)?\Z")


class Refused(Exception):
    """The request cannot be served. Carries the status and the sentence of the answer.

    `appended` is what the gate adds to the answer's headers: a visitor who was just let in keeps the pass.
    """

    def __init__(self, status: int, sentence: str) -> None:
        super().__init__(sentence)
        self.status = status
        self.sentence = sentence
        self.appended: Headers = ()

    @property
    def answer(self) -> builtin.BuiltIn:
        """The edge's own answer, without what is appended."""
        return builtin.built_in(self.status, self.sentence)


@dataclass(frozen=True, slots=True)
class Target:
    """`sent` is what came, `for_origin` its path and query, `authority` that of an absolute form."""

    sent: bytes
    for_origin: bytes
    authority: str | None = None

    @property
    def path(self) -> str:
        """The path alone, for the log: never the query."""
        return self.for_origin.partition(b"?")[0].partition(b"#")[0].decode("latin-1")


def read_target(method: str, sent: bytes) -> Target:
    """The target of a request. Raises Refused (400)."""
    if not _SENDABLE.match(sent):
        raise Refused(400, builtin.BAD_TARGET)
    if sent.startswith(b"/") or (sent == b"*" and method == "OPTIONS"):
        return Target(sent, sent)
    absolute = _ABSOLUTE.match(sent)
    if absolute is None:
        raise Refused(400, builtin.BAD_TARGET)
    authority, rest = absolute[2], absolute[3]
    # User information in a target is an error that a recipient should refuse (RFC 9110, section 4.2.4).
    if not _HOST.match(authority):
        raise Refused(400, builtin.BAD_TARGET)
    if not rest:
        rest = b"*" if method == "OPTIONS" else b"/"
    return Target(sent, rest if rest.startswith((b"/", b"*")) else b"/" + rest, authority.decode("ascii"))


def read_host(target: Target, headers: Headers, http_version: str) -> str:
    """The host that the visitor means: the target's authority, else the Host header. Raises Refused (400).

    "" only for an HTTP/1.0 request without the header.
    """
    hosts = [value for name, value in headers if name == b"host"]
    if len(hosts) > 1 or (not hosts and http_version != "1.0"):
        raise Refused(400, builtin.BAD_HOST)
    if target.authority is not None:
        return target.authority
    if not hosts:
        return ""
    if not is_host(hosts[0]):
        raise Refused(400, builtin.BAD_HOST)
    return hosts[0].decode("ascii")


def is_host(value: bytes) -> bool:
    """Whether this is a host with an optional port, as a Host header has it, perhaps with a dot behind."""
    return bool(_HOST.match(value))
