"""A visitor's request as the gate reads it. Host calls cost more than the gate's own work: headers are read when asked for."""

from __future__ import annotations

import ipaddress
import os
import time
from collections.abc import Callable, Iterator, Mapping
from typing import Any, TypeVar

from edge.core.messages import Request
from edge.guests.on_fastly.api import Err, http_downstream, types

_Read = TypeVar("_Read")

NAMES_BYTES = 8_192
VALUES_BYTES = 16_384
_METHOD_BYTES = 64
# Each answer of "too small" at least doubles the buffer; this many make 4 GB of one byte.
_GROWTHS_AT_MOST = 32


def grown(read: Callable[[int], _Read], size: int) -> _Read:
    """What `read` reads into a buffer of `size` bytes, or of as many as the host then asks for. Raises Err.

    Local hosts ask for 0 more bytes in places: then twice as many.
    """
    for _ in range(_GROWTHS_AT_MOST):
        try:
            return read(size)
        except Err as error:
            if not isinstance(error.value, types.Error_BufferLen):
                raise
            size = max(error.value.value, 2 * size)
    return read(size)


def header_names(message: Any) -> list[str]:
    """The names of all headers of a request or an answer, lower-case, each once."""
    found: list[str] = []
    cursor: int | None = 0
    while cursor is not None:
        start = cursor
        block, cursor = grown(lambda size, start=start: message.get_header_names(size, start), NAMES_BYTES)  # type: ignore[misc]
        found += block.lower().split("\0")[:-1]
    return found


def header_values(message: Any, name: str) -> list[str]:
    """All values of one header, in order, one character a byte."""
    found: list[bytes] = []
    cursor: int | None = 0
    while cursor is not None:
        start = cursor
        block, cursor = grown(lambda size, start=start: message.get_header_values(name, size, start), VALUES_BYTES)  # type: ignore[misc]
        found += block.split(b"\0")[:-1]
    return [value.decode("latin-1") for value in found]


class RequestHeaders(Mapping[str, str]):
    """The headers by lower-case name; each is read from the host once, when it is first asked for.

    What nobody asked for before the request went to the origin cannot be read afterwards.
    """

    def __init__(self, message: Any) -> None:
        self._message = message
        self.names = dict.fromkeys(header_names(message))
        self._read: dict[str, str] = {}

    def __getitem__(self, name: str) -> str:
        if name not in self.names:
            raise KeyError(name)
        text = self._read.get(name)
        if text is None:
            text = self._read[name] = ("; " if name == "cookie" else ", ").join(header_values(self._message, name))
        return text

    def get(self, name: str, default: Any = None) -> Any:
        """The value, or `default`."""
        return self[name] if name in self.names else default

    def __contains__(self, name: object) -> bool:
        return name in self.names

    def __iter__(self) -> Iterator[str]:
        return iter(self.names)

    def __len__(self) -> int:
        return len(self.names)


def address_of(found: Any) -> str:
    """An address of the host as text; empty when the host knows none."""
    if found is None:
        return ""
    if isinstance(found, types.IpAddress_Ipv4):
        return ".".join(map(str, found.value))
    return ipaddress.IPv6Address(b"".join(part.to_bytes(2) for part in found.value)).compressed


def target_of(uri: str) -> tuple[str, str, str]:
    """Scheme, authority, and the target as it was sent: cut out of the absolute address, never taken apart further."""
    scheme, _, rest = uri.partition("://")
    ends = [end for mark in "/?#" if (end := rest.find(mark)) >= 0]
    cut = min(ends, default=len(rest))
    target = rest[cut:]
    return scheme, rest[:cut], target if target.startswith("/") else "/" + target


def read_request(message: Any, country_of: Callable[[Any, RequestHeaders], str]) -> Request:
    """The request. `country_of`: the country of a platform's address. Raises Err."""
    scheme, host, target = target_of(grown(message.get_uri, VALUES_BYTES))
    headers = RequestHeaders(message)
    address = http_downstream.downstream_client_ip_addr(message)
    random = os.urandom(40).hex()
    return Request(
        method=grown(message.get_method, _METHOD_BYTES),
        target=target,
        scheme=scheme,
        host=host,
        client=address_of(address),
        country=country_of(address, headers),
        now_ms=time.time_ns() // 1_000_000,
        random=random[:64],
        request_id=random[64:],
        headers=headers,
    )
