"""Search crawlers, known by the networks that their operators publish, never by what they say of themselves.

The store holds a list under `crawlers.json`: a name and its networks (CIDR). `seal` writes it as sorted intervals of fixed width,
in hexadecimal, so that a fresh sandbox finds an address by bisection and reads nothing else. A short list as people write it
works too.
"""

from __future__ import annotations

import binascii
import json
from collections.abc import Mapping
from dataclasses import dataclass
from ipaddress import IPv4Network, IPv6Network, ip_address, ip_network
from typing import Any

from edge.core.errors import ConfigError
from edge.core.fields import ListOf, MapOf, Text
from edge.core.json_text import read_json

CRAWLERS_KEY = "crawlers.json"
TEXT_MAX_BYTES = 500_000
NAMES_AT_MOST, NETWORKS_AT_MOST = 64, 4096
UNSEALED_AT_MOST = 16  # networks; each costs a fresh sandbox a quarter of a million instructions
# No crawler's networks are wider; half of the internet by a slip of the pen is.
WIDEST_BITS: Mapping[int, int] = {4: 8, 6: 19}
_DIGITS: Mapping[int, int] = {4: 8, 6: 32}  # of an address in hexadecimal
_INDEX_DIGITS = 2
_START = '{"checked": "'
# How the lines of a sealed list begin and end.
_FIELDS = (('"names": ', ","), ('"ipv4": "', '",'), ('"ipv6": "', '"}'))
_LISTS = MapOf(
    Text(r"[a-z0-9-]+", "only a-z, 0-9 and -", 48),
    ListOf(Text(r"[0-9a-fA-F.:]+(/[0-9]{1,3})?", "a network, as 192.0.2.0/24 or 2001:db8::/32", 49), 1, NETWORKS_AT_MOST),
    NAMES_AT_MOST,
)
_Network = IPv4Network | IPv6Network


@dataclass(frozen=True, slots=True)
class Crawlers:
    """The list, compiled. `ipv4`, `ipv6`: sorted records of first and last address and the name's index, none overlapping."""

    names: tuple[str, ...] = ()
    ipv4: str = ""
    ipv6: str = ""

    def name_of(self, address: str) -> str:
        """Whose network holds the address; empty for none, and for an address that is none."""
        try:
            parsed = ip_address(address.partition("%")[0])
        except ValueError:
            return ""
        parsed = getattr(parsed, "ipv4_mapped", None) or parsed
        width = _DIGITS[parsed.version]
        record = _find(self.ipv4 if parsed.version == 4 else self.ipv6, width, f"{int(parsed):0{width}x}")
        return self.names[int(record[2 * width :], 16)] if record else ""


def _find(records: str, width: int, digits: str) -> str:
    """The record whose interval holds the number, or an empty text. Of one width, digits sort as numbers do."""
    size = 2 * width + _INDEX_DIGITS
    low, high = 0, len(records) // size
    while low < high:
        middle = (low + high) // 2
        if records[middle * size : middle * size + width] <= digits:
            low = middle + 1
        else:
            high = middle
    record = records[(low - 1) * size : low * size] if low else ""
    return record if digits <= record[width : 2 * width] else ""


def _network(text: str, path: str) -> _Network:
    try:
        network = ip_network(text)
    except ValueError as error:
        raise ConfigError(path, f"{text!r} is not a network: {error}") from None
    if network.prefixlen < WIDEST_BITS[network.version]:
        raise ConfigError(path, f"{text} is too wide for a crawler: at least /{WIDEST_BITS[network.version]} is needed")
    return network


def check_crawlers(value: Any) -> Crawlers:
    """The list of a parsed JSON value, `{"name": ["network", ...]}`. Raises ConfigError naming the place and what is allowed."""
    lists = _LISTS.check(value, "crawlers")
    if sum(len(members) for _, members in lists) > NETWORKS_AT_MOST:
        raise ConfigError("crawlers", f"more than {NETWORKS_AT_MOST} networks in all")
    found = [
        (_network(text, f"crawlers.{name}[{place}]"), index)
        for index, (name, members) in enumerate(lists)
        for place, text in enumerate(members)
    ]
    return Crawlers(tuple(name for name, _ in lists), _records(found, 4), _records(found, 6))


def _records(found: list[tuple[_Network, int]], version: int) -> str:
    width, last, out = _DIGITS[version], -1, []
    intervals = [(int(net[0]), int(net[-1]), index) for net, index in found if net.version == version]
    # Two networks are apart, or one holds the other: the wider one comes first, and what lies within adds nothing.
    for first, end, index in sorted(intervals, key=lambda interval: (interval[0], -interval[1])):
        if first > last:
            out.append(f"{first:0{width}x}{end:0{width}x}{index:0{_INDEX_DIGITS}x}")
            last = end
    return "".join(out)


def _checksum(body: str) -> str:
    return f"{binascii.crc32(body.encode('utf-8', 'replace')):08x}"


def seal(crawlers: Crawlers) -> str:
    """The text of a list that was checked, quick to read."""
    values = (json.dumps(crawlers.names), crawlers.ipv4, crawlers.ipv6)
    body = "".join(f"{start}{value}{end}\n" for value, (start, end) in zip(values, _FIELDS, strict=True))
    return f'{_START}{_checksum(body)}",\n{body}'


def load_crawlers(text: str) -> Crawlers:
    """The list of a text, sealed or as people write it. Raises ConfigError."""
    if len(text) > TEXT_MAX_BYTES:
        raise ConfigError(CRAWLERS_KEY, f"is larger than {TEXT_MAX_BYTES} bytes")
    if text.startswith(_START):
        first, _, body = text.partition("\n")
        if first != f'{_START}{_checksum(body)}",':
            raise ConfigError(CRAWLERS_KEY, "was changed after it was checked; apply the list itself again")
        try:
            # Not as JSON, though it is: reading the long texts as such costs a fresh sandbox more than all the rest.
            lines = body.rstrip("\n").split("\n")
            names, ipv4, ipv6 = (line[len(start) : -len(end)] for line, (start, end) in zip(lines, _FIELDS, strict=True))
            return Crawlers(tuple(json.loads(names)), ipv4, ipv6)
        except ValueError as error:
            raise ConfigError(CRAWLERS_KEY, f"is of another version ({error}); apply the list itself again") from error
    value = read_json(text)
    if isinstance(value, dict) and sum(len(member) for member in value.values() if isinstance(member, list)) > UNSEALED_AT_MOST:
        raise ConfigError(CRAWLERS_KEY, f"more than {UNSEALED_AT_MOST} networks are too many to read at each start; put the list "
                          "in force with: stanchion crawlers apply FILE")  # fmt: skip
    return check_crawlers(value)
