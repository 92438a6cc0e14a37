"""JSON between the gate and itself, Redis and the store, with less around it: a fresh sandbox reads and writes about ten texts.

`json.loads` and `json.dumps` look for blanks by regular expressions, make an encoder for each text, and find out the encoding of
bytes; the C functions below them are the same. What people write is read by `edge.core.json_text`.
"""

from __future__ import annotations

import json
from typing import Any

_encoder = json.JSONEncoder(separators=(",", ":"))
_decoder: Any = json.JSONDecoder()
_scan = _decoder.scan_once
_make: Any = getattr(json.encoder, "c_make_encoder", None)
# As JSONEncoder.iterencode makes it for each text; without a look for circles, which nothing of ours has.
_escaped = json.encoder.encode_basestring_ascii
_pieces: Any = _make and _make(None, _encoder.default, _escaped, None, ":", ",", False, False, True)


def read(text: str) -> Any:
    """The value of a text. Raises ValueError."""
    try:
        value, end = _scan(text, 0)
    except StopIteration:
        return json.loads(text)
    return value if end == len(text) else json.loads(text)


def written(text: str) -> str:
    """A text as JSON in ASCII, with its quotes."""
    return str(_escaped(text))


def write(value: object) -> str:
    """Compact JSON in ASCII. Raises TypeError for what JSON has not."""
    return "".join(_pieces(value, 0)) if _pieces else _encoder.encode(value)
