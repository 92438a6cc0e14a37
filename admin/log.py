"""One JSON object a line on standard error."""

from __future__ import annotations

import json
import sys


def log(event: str, **fields: object) -> None:
    """Writes one line. `event` is a fixed name to search for; no secret may be among the fields."""
    print(json.dumps({"room": "admin", "event": event, **fields}, default=str), file=sys.stderr, flush=True)
