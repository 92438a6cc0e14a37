"""Content negotiation: whether a client reads JSON rather than HTML (RFC 9110, section 12.5.1)."""

from __future__ import annotations

_DEFAULT = 1.0


def _quality(parameters: list[str]) -> float:
    for parameter in parameters:
        name, _, value = parameter.strip().partition("=")
        if name.strip().lower() == "q":
            try:
                return min(1.0, max(0.0, float(value.strip())))
            except ValueError:
                return 0.0
    return _DEFAULT


def quality_of(accept: str, media_type: str) -> float:
    """The quality that an Accept header gives to `media_type`, by the most specific range; 0 if it is not accepted."""
    kind = media_type.partition("/")[0]
    best: tuple[int, float] = (-1, 0.0)
    for item in accept.split(","):
        name, *parameters = item.split(";")
        media_range = name.strip().lower()
        specificity = {media_type: 2, f"{kind}/*": 1, "*/*": 0}.get(media_range)
        if specificity is not None and specificity > best[0]:
            best = (specificity, _quality(parameters))
    return best[1]


def prefers_json(accept: str) -> bool:
    """Whether JSON is accepted more than HTML. A tie, and a missing header, mean HTML."""
    return bool(accept) and quality_of(accept, "application/json") > quality_of(accept, "text/html")
