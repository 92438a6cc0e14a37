"""The origin's answer as the visitor gets it: its own headers, in order, never replaced, only appended to."""

from __future__ import annotations

import re

from host.edge.messages import Headers, is_private
from host.edge.origin_request import HOP_BY_HOP, NEVER_NOMINATED, nominated

# What a careful server would not send: control characters would end up in the visitor's connection.
_BAD_VALUE = re.compile(rb"[\x00-\x08\x0a-\x1f\x7f]")


class BrokenAnswer(Exception):
    """The origin sent a header that cannot be passed on. The text names it."""


def visitor_headers(status: int, headers: Headers, private_prefix: bytes) -> list[tuple[bytes, bytes]]:
    """The origin's headers without those of the hop and the gate's own. Raises BrokenAnswer."""
    lowered = [(name.lower(), value) for name, value in headers]
    dropped = HOP_BY_HOP | (nominated(lowered) - NEVER_NOMINATED)
    if status == 204:
        # RFC 9110, section 8.6: none in a 204, however an origin may put one there.
        dropped |= {b"content-length"}
    kept = []
    for (lower, value), (name, _) in zip(lowered, headers, strict=True):
        if lower in dropped or is_private(lower, private_prefix):
            continue
        if _BAD_VALUE.search(value):
            raise BrokenAnswer(f"the header {name.decode('latin-1')} holds a control character")
        kept.append((name, value))
    return kept


def has_private(headers: Headers, private_prefix: bytes) -> bool:
    """Whether the origin speaks to the gate."""
    return any(is_private(name.lower(), private_prefix) for name, _ in headers)
