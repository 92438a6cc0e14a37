"""The mark at the end of a published page: where its slots are, so that a fresh sandbox cuts the page in one call.

The mark says how long each piece is, in bytes: for each slot the text before it, the end of that text by itself, and the
slot; then the text that is left. What stands right before a slot says whether escaping makes it safe there (a tag, an
attribute's name, a quote), so the mark has a checksum of that. A page that was changed afterwards no longer fits, unless
neither its length nor a slot nor what stands before one is another now; what does not fit is read in full once more. This
guards against a slip of the hand, not against whoever may write to the store: that one could put a script into the page
anyway. A checksum of the whole page would cost a fresh sandbox ten times as much.
"""

from __future__ import annotations

import binascii
import struct
from collections.abc import Mapping, Sequence

_START, _END = b"<!--read in full, version 5: ", b"-->\n"
_CONTEXT_BYTES = 32
_MARK_BYTES_AT_MOST = 4_000

# Pieces of a page: text, more text, a slot, and so on three by three; text at the end. And the names of the slots.
Cut = tuple[Sequence[bytes], list[str]]


def cut(page: bytes, slots: Mapping[bytes, str]) -> Cut | None:
    """The page by its mark, or None if it has none, or one that does not fit. `slots`: names by what stands in the page."""
    start = page.rfind(_START, max(0, len(page) - _MARK_BYTES_AT_MOST))
    if start < 0 or not page.endswith(_END):
        return None
    checksum, _, lengths = page[start + len(_START) : -len(_END)].partition(b" ")
    try:
        cutter = struct.Struct(lengths)
        if cutter.size != start:
            return None
        pieces = cutter.unpack_from(page)
        if len(pieces) != lengths.count(b"s"):
            return None  # pieces of another kind than bytes
        names = list(map(slots.__getitem__, pieces[2::3]))
    except (struct.error, KeyError):
        return None
    if len(pieces) % 3 != 1 or checksum != _checksum(pieces[1::3]):
        return None
    return pieces, names


def unsealed(text: str) -> str:
    """The page as it was before it got its mark, of whatever version."""
    start = _START.decode().partition(",")[0]
    head, mark, rest = text.rpartition(start)
    return head if mark and rest.endswith(_END.decode()) and "\n" not in rest[:-1] else text


def mark_for(literals: Sequence[str], names: Sequence[str]) -> str:
    """The mark of a page that consists of `names` in double braces with `literals` around and between them."""
    pieces = pieces_of(literals, names)
    lengths = "".join(f"{len(piece)}s" for piece in pieces)
    return f"{_START.decode()}{_checksum(pieces[1::3]).decode()} {lengths}{_END.decode()}"


def pieces_of(literals: Sequence[str], names: Sequence[str]) -> list[bytes]:
    """The same pieces as `cut` makes."""
    pieces: list[bytes] = []
    for literal, name in zip(literals, names, strict=False):
        text = literal.encode("utf-8", "replace")
        pieces += [text[:-_CONTEXT_BYTES], text[-_CONTEXT_BYTES:], f"{{{{{name}}}}}".encode()]
    return [*pieces, literals[-1].encode("utf-8", "replace")]


def _checksum(contexts: Sequence[bytes]) -> bytes:
    return b"%08x" % binascii.crc32(b"".join(contexts))
