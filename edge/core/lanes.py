"""Who may enter which lane: by the site's word, a JWT in a header or cookie that the site signed; or by an invitation.

The site signs with HS256 and the text of the secret `lane:<queue id>`; claims are `lane` (the name) and `exp` (Unix seconds, an
hour ahead is wise), both required, and whatever else. What does not verify is as if it were not there.
"""

from __future__ import annotations

import json
import math
from collections.abc import Iterable
from typing import Any

import jwt

from edge.core.messages import Request
from edge.core.model import Lane, Queue

SECRET_MIN_BYTES = 32  # RFC 7518, 3.2: at least the size of the hash
TOKEN_MAX_BYTES = 4096
# Signatures only: PyJWT's check of claims would read the system's clock.
_JWS = jwt.PyJWS(algorithms=["HS256"])


def secret_name(queue: Queue) -> str:
    """The name of the secret by which the site vouches for visitors of this queue."""
    return f"lane:{queue.id}"


def vouched_line(queue: Queue, request: Request, cookie: str, secret: str) -> int | None:
    """The line that the site vouches for, the first lane of the queue whose rule holds; None when there is none.

    `cookie`: the Cookie header without ours. `secret`: of `secret_name`, or empty.
    """
    key = secret.encode()
    if len(key) < SECRET_MIN_BYTES:
        return None
    for index, lane in enumerate(queue.lanes):
        if lane.rule is not None and _holds(lane, _value(lane.rule, request, cookie), key, request.now_ms):
            return queue.line + index
    return None


def has_rules(queue: Queue) -> bool:
    """Whether any lane of the queue is entered by the site's word."""
    return any(lane.rule is not None for lane in queue.lanes)


def rule_headers(queues: Iterable[Queue]) -> set[str]:
    """The headers in which sites may vouch for visitors of these queues, by lower-case name."""
    rules = (lane.rule for queue in queues for lane in queue.lanes if lane.rule is not None)
    return {rule.removeprefix("header:").lower() for rule in rules if rule.startswith("header:")}


def _value(rule: str, request: Request, cookie: str) -> str:
    where, _, name = rule.partition(":")
    if where == "header":
        return request.header(name.lower()).removeprefix("Bearer ").strip()
    for piece in cookie.split(";"):
        key, _, value = piece.strip().partition("=")
        if key == name:
            return value.strip('"')
    return ""


def _holds(lane: Lane, token: str, key: bytes, now_ms: int) -> bool:
    if not token or len(token) > TOKEN_MAX_BYTES or not token.isascii():
        return False
    try:
        claims: Any = json.loads(_JWS.decode(token, key, ["HS256"]))
        return claims.get("lane") == lane.name and now_ms < float(claims["exp"]) * 1000 < math.inf
    except (jwt.PyJWTError, ValueError, TypeError, KeyError, AttributeError, OverflowError, RecursionError):
        return False
