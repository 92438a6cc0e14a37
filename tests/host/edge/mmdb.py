"""Writes a small GeoIP database in the MaxMind format (version 2.0, MaxMind-DB-spec.md)."""

from __future__ import annotations

import ipaddress
from dataclasses import dataclass
from pathlib import Path

RECORD_BITS = 24
_MARKER = b"\xab\xcd\xefMaxMind.com"


@dataclass(frozen=True)
class Uint:
    """An unsigned number of a given width; the readers check the width."""

    bits: int
    value: int


def _uint(number: Uint) -> bytes:
    content = number.value.to_bytes(number.bits // 8, "big").lstrip(b"\0")
    kinds = {
        16: bytes([5 << 5 | len(content)]),
        32: bytes([6 << 5 | len(content)]),
        64: bytes([len(content), 9 - 7]),
    }
    return kinds[number.bits] + content


def _value(value: object) -> bytes:
    if isinstance(value, str):
        text = value.encode()
        return bytes([2 << 5 | len(text)]) + text
    if isinstance(value, dict):
        pairs = b"".join(_value(key) + _value(item) for key, item in value.items())
        return bytes([7 << 5 | len(value)]) + pairs
    if isinstance(value, Uint):
        return _uint(value)
    assert isinstance(value, list)
    return bytes([len(value), 11 - 7]) + b"".join(map(_value, value))


def write_mmdb(path: Path, countries: dict[str, object]) -> Path:
    """A database of IPv4 networks (CIDR) and records; a plain string becomes the usual country record."""
    tree: list[list[int | str | None]] = [[None, None]]
    data = b""
    offsets: dict[str, int] = {}
    for network, record in countries.items():
        offsets[network] = len(data)
        data += _value({"country": {"iso_code": record}} if isinstance(record, str) else record)
        _insert(tree, ipaddress.ip_network(network), network)
    nodes = b""
    for node in tree:
        for entry in node:
            number = entry if isinstance(entry, int) else len(tree)
            number += 16 + offsets[entry] if isinstance(entry, str) else 0
            nodes += number.to_bytes(RECORD_BITS // 8, "big")
    meta = {
        "node_count": Uint(32, len(tree)),
        "record_size": Uint(16, RECORD_BITS),
        "ip_version": Uint(16, 4),
        "database_type": "Test-Country",
        "languages": ["en"],
        "binary_format_major_version": Uint(16, 2),
        "binary_format_minor_version": Uint(16, 0),
        "build_epoch": Uint(64, 1_700_000_000),
        "description": {"en": "for a test"},
    }
    path.write_bytes(nodes + bytes(16) + data + _MARKER + _value(meta))
    return path


def _insert(
    tree: list[list[int | str | None]], network: ipaddress.IPv4Network | ipaddress.IPv6Network, leaf: str
) -> None:
    bits = f"{int(network.network_address):032b}"[: network.prefixlen]
    node = 0
    for bit in bits[:-1]:
        following = tree[node][int(bit)]
        if not isinstance(following, int):
            tree.append([None, None])
            following = tree[node][int(bit)] = len(tree) - 1
        node = following
    tree[node][int(bits[-1])] = leaf
