"""One JSON object a line on standard error."""

from __future__ import annotations

import json
import sys
from typing import Literal


def log(level: Literal["info", "warning", "error"], event: str, **fields: object) -> None:
    """Writes one line. `event` is a fixed name to search for; values unknown to JSON are shown as text."""
    line = {"level": level, "room": "rest", "event": event, **fields}
    print(json.dumps(line, default=str), file=sys.stderr, flush=True)
