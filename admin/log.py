"""One JSON object a line on standard error."""

from __future__ import annotations

import json
import sys

from admin.request_ids import request_id


def log(event: str, **fields: object) -> None:
    """Writes one line, with the id of the request if there is one. `event` is a fixed name; no secret may be among the fields."""
    asked = {"request_id": request_id()} if request_id() else {}
    print(json.dumps({"room": "admin", "event": event, **asked, **fields}, default=str), file=sys.stderr, flush=True)
