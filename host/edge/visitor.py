"""Who asks, and from where: what the socket says, and what trusted proxies say about those behind them.

A forwarding header counts only as far as trusted proxies wrote it: X-Forwarded-For is walked from the
right, over trusted addresses, to the first that is not. Entries further left are what the visitor may have
made up.
"""

from __future__ import annotations

import ipaddress
from collections.abc import Callable
from dataclasses import dataclass
from functools import lru_cache

from host.edge.messages import Headers
from host.geo import country_code
from host.setting_rules import Network

ADDRESSES_REMEMBERED = 4_096
# An IPv6 address with zone, brackets and port, and some room.
MAX_ADDRESS_CHARS = 100


@dataclass(frozen=True, slots=True)
class Visitor:
    """`client` is an IP address, `country` two letters, or "" for unknown, `host` what a trusted proxy named.

    `scheme` is http or https. `trusted` says whether the peer of the connection is a trusted proxy.
    """

    client: str
    scheme: str
    host: str | None
    country: str
    trusted: bool


class Trust:
    """What is believed of whom.

    `country_of` looks an address up when no header tells; `trust_all_countries` believes the header from
    anyone.
    """

    def __init__(
        self,
        proxies: tuple[Network, ...] = (),
        country_header: str = "",
        trust_all_countries: bool = False,
        country_of: Callable[[str], str] | None = None,
    ) -> None:
        self._proxies = proxies
        self._country_header = country_header.lower().encode()
        self._trust_all_countries = trust_all_countries
        self._country_of = country_of
        self._is_trusted = lru_cache(ADDRESSES_REMEMBERED)(self._in_proxies)

    def visitor(self, peer: str, scheme: str, headers: Headers) -> Visitor:
        """The visitor of a request that came over a connection from `peer`; header names are lower-case."""
        peer = normal_address(peer) or peer
        trusted = bool(self._proxies) and self._is_trusted(peer)
        client, host = peer, None
        if trusted:
            client, hops = self._walk(peer, _entries(headers, b"x-forwarded-for"))
            told = _entry_of_hop(_entries(headers, b"x-forwarded-proto"), hops).lower()
            scheme = told if told in ("http", "https") else scheme
            host = _entry_of_hop(_entries(headers, b"x-forwarded-host"), hops) or None
        return Visitor(client, scheme, host, self._country(client, trusted, headers), trusted)

    def _in_proxies(self, address: str) -> bool:
        try:
            ip = ipaddress.ip_address(address)
        except ValueError:
            return False
        return any(ip in network for network in self._proxies)

    def _walk(self, peer: str, entries: list[str]) -> tuple[str, int]:
        """The first address from the right that is no trusted proxy, and its distance from the right."""
        client, hops = peer, 0
        while hops < len(entries) and self._is_trusted(client):
            address = normal_address(entries[-1 - hops])
            if address is None:
                break
            client, hops = address, hops + 1
        return client, hops

    def _country(self, client: str, trusted: bool, headers: Headers) -> str:
        if self._country_header and (trusted or self._trust_all_countries):
            told = {value for name, value in headers if name == self._country_header}
            if told:
                # Two different values: one of them was not written by the proxy.
                return country_code(told.pop().decode("latin-1")) if len(told) == 1 else ""
        return self._country_of(client) if self._country_of else ""


def normal_address(text: str) -> str | None:
    """An address in its shortest form without port, brackets, zone or IPv4 mapping; None when it is none."""
    return _normal_address(text) if len(text) <= MAX_ADDRESS_CHARS else None


@lru_cache(ADDRESSES_REMEMBERED)
def _normal_address(text: str) -> str | None:
    bare = text.strip().strip('"')
    if bare.startswith("["):
        bare = bare[1:].partition("]")[0]
    elif bare.count(":") == 1:
        bare = bare.partition(":")[0]
    try:
        ip = ipaddress.ip_address(bare.partition("%")[0])
    except ValueError:
        return None
    mapped = ip.ipv4_mapped if isinstance(ip, ipaddress.IPv6Address) else None
    return str(mapped or ip)


def _entries(headers: Headers, wanted: bytes) -> list[str]:
    values = [value.decode("latin-1") for name, value in headers if name == wanted]
    return [entry.strip() for value in values for entry in value.split(",")]


def _entry_of_hop(entries: list[str], hops: int) -> str:
    """The entry written by the proxy that saw the visitor: as far from the right as the visitor's address.

    Proxies that replace the value instead of appending leave fewer entries; the leftmost is then the one.
    """
    return entries[-min(max(hops, 1), len(entries))] if entries else ""
