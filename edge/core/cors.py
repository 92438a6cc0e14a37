"""Cross-origin reads of the gate's own answers by scripts of the origins that a queue names (Fetch standard, section 3.2).

Only the exact origin is ever answered, never `*`, for the cookies of visitors go along. Answers of the site are the site's own.
"""

from __future__ import annotations

from edge.core.messages import Request
from edge.core.model import Queue

Headers = tuple[tuple[str, str], ...]
# Beyond what every script may read, Content-Type and Content-Language among it.
EXPOSED = "Retry-After, Stanchion-State, Stanchion-Token"
SENT = "Accept, Content-Type, Stanchion-Token, Stanchion-Work"
PREFLIGHT_MAX_AGE_S = 600  # WebKit keeps none for longer


def is_allowed(queue: Queue, request: Request) -> bool:
    """Whether a script of an origin that the queue names is asking."""
    return bool(queue.allowed_origins) and request.header("origin") in queue.allowed_origins


def vary(queue: Queue, names: str) -> tuple[str, str]:
    """The Vary header of an answer that depends on these request headers, and on the origin where the queue names any."""
    return ("Vary", f"{names}, Origin" if queue.allowed_origins else names)


def headers(queue: Queue, request: Request) -> Headers:
    """What lets a script of an allowed origin read an answer; nothing for anybody else."""
    if not is_allowed(queue, request):
        return ()
    return (*_origin(request), ("Access-Control-Expose-Headers", EXPOSED))


def _origin(request: Request) -> Headers:
    return (("Access-Control-Allow-Origin", request.header("origin")), ("Access-Control-Allow-Credentials", "true"))


def is_preflight(request: Request) -> bool:
    """Whether a browser asks on behalf of a script before it sends the request itself."""
    sent = request.headers
    return request.method == "OPTIONS" and "origin" in sent and "access-control-request-method" in sent


def preflight(queue: Queue, request: Request, methods: tuple[str, ...]) -> Headers:
    """The headers of the answer to a preflight for a reserved path."""
    allowed = (("Access-Control-Allow-Methods", ", ".join(methods)), ("Access-Control-Allow-Headers", SENT),
               ("Access-Control-Max-Age", str(PREFLIGHT_MAX_AGE_S)))  # fmt: skip
    return (*_origin(request), *allowed, vary(queue, "Access-Control-Request-Method, Access-Control-Request-Headers"))
