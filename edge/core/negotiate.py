"""Content negotiation: whether a client reads JSON rather than HTML (RFC 9110, section 12.5.1)."""

from __future__ import annotations

from functools import lru_cache

_DEFAULT = 1.0
_REMEMBERED_MAX = 256  # characters; browsers send about a hundred


def _quality(parameters: list[str]) -> float:
    for parameter in parameters:
        name, _, value = parameter.strip().partition("=")
        if name.strip().lower() == "q":
            try:
                return min(1.0, max(0.0, float(value.strip())))
            except ValueError:
                return 0.0
    return _DEFAULT


def _accepted(accept: str, media_type: str) -> tuple[float, int]:
    """The quality that an Accept header gives to `media_type`, and how specific the range is that gives it.

    2: named; 1: by its kind; 0: by */*; -1: not accepted at all.
    """
    kind = media_type.partition("/")[0]
    best: tuple[int, float] = (-1, 0.0)
    for item in accept.split(","):
        name, *parameters = item.split(";")
        media_range = name.strip().lower()
        specificity = {media_type: 2, f"{kind}/*": 1, "*/*": 0}.get(media_range)
        if specificity is not None and specificity > best[0]:
            best = (specificity, _quality(parameters))
    return best[1], best[0]


def prefers_json(accept: str) -> bool:
    """Whether JSON is accepted more than HTML.

    With equal quality the one that is named wins over the one that falls under a range (`application/json, */*` is a
    script's); a tie beyond that, and a missing header, mean HTML.
    """
    return _remembered(accept) if len(accept) <= _REMEMBERED_MAX else _prefers_json(accept)


def _prefers_json(accept: str) -> bool:
    json, html = _accepted(accept, "application/json"), _accepted(accept, "text/html")
    return json[0] > 0 and json > html


_remembered = lru_cache(maxsize=256)(_prefers_json)
