"""Content negotiation by Accept (RFC 9110, section 12.5.1): which quality a client gives a media type, and who reads JSON."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from functools import lru_cache
from typing import NamedTuple

_REMEMBERED_MAX = 256  # characters; browsers send about a hundred
# Commas and semicolons within a quoted string part nothing (RFC 9110, section 5.6.4).
_LIST = re.compile(r'(?:[^,"]|"(?:[^"\\]|\\.)*"?)+', re.DOTALL)
_PIECES = re.compile(r'(?:[^;"]|"(?:[^"\\]|\\.)*"?)+', re.DOTALL)
_WEIGHT = re.compile(r"[01]?\.[0-9]*|[01]")
_JSON, _HTML = "application/json", "text/html"
_NOTHING: frozenset[tuple[str, str]] = frozenset()


class MediaRange(NamedTuple):
    """One member of an Accept header: a type (`text/html`, `text/*`, `*/*`), its parameters, and a weight from 0 to 1."""

    name: str
    parameters: frozenset[tuple[str, str]]
    quality: float

    def precedence(self, name: str, parameters: frozenset[tuple[str, str]] | None) -> tuple[int, int] | None:
        """How specific the range is where it holds the media type; None where it does not. `parameters` None: any will do."""
        kind = name.partition("/")[0]
        level = {name: 2, f"{kind}/*": 1, "*/*": 0}.get(self.name)
        if level is None or (parameters is not None and not self.parameters <= parameters):
            return None
        return level, len(self.parameters)


def _parameter(piece: str) -> tuple[str, str]:
    name, _, value = piece.partition("=")
    value = value.strip()
    if value.startswith('"'):
        value = re.sub(r"\\(.)", r"\1", value[1:].removesuffix('"'), flags=re.DOTALL)
    name = name.strip().lower()
    # Names of character sets have no case (RFC 9110, section 8.3.2); other values may.
    return name, value.lower() if name == "charset" else value


def _quality(text: str) -> float | None:
    """A weight; more digits than the three of the grammar are taken, anything else is none."""
    return min(1.0, float(text)) if _WEIGHT.fullmatch(text) and text != "." else None


def _pieces(member: str) -> list[str]:
    return _PIECES.findall(member) if '"' in member else member.split(";")


def parse_accept(header: str) -> Iterator[MediaRange]:
    """The ranges of an Accept header, in order; members that are none, or have a weight that is none, are left out."""
    for member in _LIST.findall(header) if '"' in header else header.split(","):
        name, *pieces = _pieces(member) or [""]
        name = name.strip().lower()
        if "/" not in name:
            continue
        if not pieces:
            yield MediaRange(name, _NOTHING, 1.0)
            continue
        parameters = [_parameter(piece) for piece in pieces if piece.strip()]
        # "q" is the weight wherever it stands (RFC 9110, section 12.5.1).
        weight = next((value for key, value in parameters if key == "q"), "1")
        quality = _quality(weight)
        if quality is not None:
            yield MediaRange(name, frozenset(pair for pair in parameters if pair[0] != "q"), quality)


def _best(ranges: Iterable[MediaRange], name: str, parameters: frozenset[tuple[str, str]] | None) -> tuple[float, int]:
    """The quality of a media type, and how specific the range is that gives it: 2 its name, 1 its kind, 0 any, -1 none."""
    best: tuple[tuple[int, int], float] = ((-1, 0), 0.0)
    for media_range in ranges:
        precedence = media_range.precedence(name, parameters)
        if precedence is not None and (precedence, media_range.quality) > best:
            best = (precedence, media_range.quality)
    return best[1], best[0][0]


def quality(header: str, media_type: str) -> float:
    """The quality from 0 to 1 that an Accept header gives a media type, parameters and all; 0: not acceptable.

    The most specific range that holds the type decides (RFC 9110, section 12.5.1, with erratum 7138).
    """
    name, *pieces = _pieces(media_type)
    return _best(parse_accept(header), name.strip().lower(), frozenset(map(_parameter, pieces)))[0]


def prefers_json(accept: str) -> bool:
    """Whether JSON is accepted more than HTML.

    With equal quality the one that is named wins over the one that falls under a range (`application/json, */*` is a
    script's); a tie beyond that, and a missing header, mean HTML. Who names JSON with parameters that ours does not have
    (`application/json;version=2`) reads JSON all the same.
    """
    # What browsers send: nothing can be accepted more than HTML is there. Quicker than reading the rest.
    if accept.startswith("text/html,"):
        return False
    return _remembered(accept) if len(accept) <= _REMEMBERED_MAX else _prefers_json(accept)


def _prefers_json(accept: str) -> bool:
    ranges = list(parse_accept(accept))
    json, html = _best(ranges, _JSON, None), _best(ranges, _HTML, None)
    return json[0] > 0 and json > html


_remembered = lru_cache(maxsize=256)(_prefers_json)
