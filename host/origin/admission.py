"""What the shop's footer says of the admission header. Decoded without a look at the signature, for show only."""

from __future__ import annotations

import base64
import json
from collections.abc import Sequence
from datetime import UTC, datetime
from typing import Any

PASS_HEADER = "stanchion-pass"
_MAX_CHARS = 4096


def describe(values: Sequence[str]) -> dict[str, Any]:
    """What the pages show: `text`, and `claims` if the header could be read. `values`: every such header that came."""
    if not values:
        return {"text": "no pass", "claims": {}}
    if len(values) > 1:
        return {"text": f"{len(values)} passes at once", "claims": {}}
    claims = _claims(values[0])
    if claims is None:
        return {"text": "a pass that cannot be read", "claims": {}}
    words = [f"pass for {claims.get('aud', 'an unnamed queue')}"]
    if isinstance(expires := claims.get("exp"), int) and 0 < expires < 1 << 40:
        words.append(f"good until {datetime.fromtimestamp(expires, UTC):%H:%M:%S} UTC")
    return {"text": ", ".join(words), "claims": {str(key): str(value) for key, value in claims.items()}}


def _claims(token: str) -> dict[str, Any] | None:
    parts = token.split(".")
    if len(parts) != 3 or len(token) > _MAX_CHARS:
        return None
    try:
        claims = json.loads(base64.urlsafe_b64decode(parts[1] + "=" * (-len(parts[1]) % 4)))
    except (ValueError, RecursionError):
        return None
    return claims if isinstance(claims, dict) else None
