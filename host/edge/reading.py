"""What the edge makes of a request before it asks the gate: facts, or a refusal."""

from __future__ import annotations

from dataclasses import dataclass
from os import urandom

from host.edge import builtin
from host.edge.exchange import Exchange
from host.edge.messages import Facts, Headers
from host.edge.origin_request import Incoming
from host.edge.target import Refused, Target, is_host, read_host, read_target
from host.edge.visitor import Trust, normal_address

RANDOM_BYTES = 32
# h2c may be passed over (RFC 9110, section 7.8): clients offer it and are content with HTTP/1.1.
_OPTIONAL_UPGRADES = frozenset((b"h2c",))


@dataclass(frozen=True, slots=True)
class Reading:
    """A request in the three forms that are needed: for the gate, for its address, and for the origin."""

    facts: Facts
    target: Target
    incoming: Incoming


def read_request(exchange: Exchange, trust: Trust, request_id: str) -> Reading:
    """The reading of a request. Raises Refused for what can be neither answered nor passed on."""
    scope = exchange.scope
    headers: list[tuple[bytes, bytes]] = list(scope["headers"])
    method, version = scope["method"], scope["http_version"]
    if method == "CONNECT":
        raise Refused(501, builtin.NO_CONNECT)
    target = read_target(method, exchange.target)
    sent_host = read_host(target, headers, version)
    chunked = _is_chunked(headers)
    _check_expectation(headers, version)
    peer = (normal_address(scope["client"][0]) or "") if scope["client"] else ""
    visitor = trust.visitor(peer, scope["scheme"], headers)
    named = visitor.host if visitor.host and is_host(visitor.host.encode("latin-1")) else None
    facts = Facts(
        method=method,
        target=exchange.target,
        scheme=visitor.scheme,
        host=named or sent_host,
        client=visitor.client,
        country=visitor.country,
        id=request_id,
        random=urandom(RANDOM_BYTES).hex(),
        headers=headers,
    )
    incoming = Incoming(exchange.names, headers, visitor, peer, facts.host, sent_host.encode(), chunked)
    return Reading(facts, target, incoming)


def needs_upgrade(exchange: Exchange) -> bool:
    """Whether the request asks for another protocol and cannot be answered in this one."""
    if exchange.upgrade is None:
        return False
    # The parser took a body behind such a head for the other protocol: it is lost.
    has_body = any(name in (b"content-length", b"transfer-encoding") for name, _ in exchange.scope["headers"])
    return has_body or exchange.upgrade.lower() not in _OPTIONAL_UPGRADES


def _is_chunked(headers: Headers) -> bool:
    codings = [value.lower() for name, value in headers if name == b"transfer-encoding"]
    if codings and codings != [b"chunked"]:
        # RFC 9112, section 6.1. Passing on the inner coding without its name would change the body.
        raise Refused(501, builtin.NO_CODING)
    return bool(codings)


def _check_expectation(headers: Headers, version: str) -> None:
    expected = [value.lower() for name, value in headers if name == b"expect"]
    if expected and expected != [b"100-continue"] and version == "1.1":
        raise Refused(417, builtin.BAD_EXPECT)
