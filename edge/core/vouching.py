"""The site's word about a visitor: a JWT in a header or cookie that the site signed for a queue.

It signs with HS256 and the text of the secret `lane:<queue id>`; `exp` (Unix seconds, an hour ahead is wise) is required. What
does not verify is as if it were not there. The claim `lane` leads into a lane (edge/core/lanes.py); the claim `sub` is the key of
the visitor, an account number say: one place for each key, on however many devices.
"""

from __future__ import annotations

import base64
import hmac
import json
import math
from collections.abc import Mapping
from typing import Any

import jwt

from edge.core.keyring import Keyring
from edge.core.messages import Request
from edge.core.model import Queue

SECRET_MIN_BYTES = 32  # RFC 7518, 3.2: at least the size of the hash
TOKEN_MAX_BYTES = 4096
SUBJECT_MAX_CHARS = 512
_ID_BYTES = 12  # of a key in the visitor's id, as many as that of any visitor has
# Signatures only: PyJWT's check of claims would read the system's clock.
_JWS = jwt.PyJWS(algorithms=["HS256"])


def secret_name(queue: Queue) -> str:
    """The name of the secret by which the site vouches for visitors of this queue."""
    return f"lane:{queue.id}"


def word(where: str, request: Request, cookie: str, secret: str) -> Mapping[str, Any]:
    """The claims that the site signed, none where nothing valid stands.

    `where`: "header:NAME" or "cookie:NAME". `cookie`: the Cookie header without ours. `secret`: of `secret_name`, or empty.
    """
    key, token = secret.encode(), _value(where, request, cookie)
    if len(key) < SECRET_MIN_BYTES or not token or len(token) > TOKEN_MAX_BYTES or not token.isascii():
        return {}
    try:
        claims: Any = json.loads(_JWS.decode(token, key, ["HS256"]))
        return claims if request.now_ms < float(claims["exp"]) * 1000 < math.inf else {}
    except (jwt.PyJWTError, ValueError, TypeError, KeyError, AttributeError, OverflowError, RecursionError):
        return {}


def is_given(where: str, request: Request, cookie: str) -> bool:
    """Whether anything stands where the site's word is looked for."""
    return bool(_value(where, request, cookie))


def keyed_visitor(queue: Queue, request: Request, cookie: str, secret: str, ring: Keyring) -> str:
    """The visitor id of the key that the site vouches for, as the script `join` takes it; empty when there is no key.

    Made by an HMAC with a key of ours, so that nobody can tell the account from a token; the same in all queues of a group.
    """
    subject = word(queue.visitor_key, request, cookie, secret).get("sub") if queue.visitor_key else None
    if not isinstance(subject, str) or not 0 < len(subject) <= SUBJECT_MAX_CHARS:
        return ""
    said = f"{queue.scope}\n{subject}".encode("utf-8", "surrogatepass")
    return base64.urlsafe_b64encode(hmac.digest(ring.visitor_master, said, "sha256")[:_ID_BYTES]).decode() + ".0"


def is_keyed(visitor: str) -> bool:
    """Whether a visitor id is one of a key: no other has a dot."""
    return "." in visitor


def _value(where: str, request: Request, cookie: str) -> str:
    kind, _, name = where.partition(":")
    if kind == "header":
        return request.header(name.lower()).removeprefix("Bearer ").strip()
    for piece in cookie.split(";"):
        key, _, value = piece.strip().partition("=")
        if key == name:
            return value.strip('"')
    return ""
