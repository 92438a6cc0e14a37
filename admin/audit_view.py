"""Reading the audit log: which entries a query asks for, and how they are answered."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator, Mapping
from dataclasses import asdict
from datetime import UTC, datetime
from functools import partial
from typing import Any

from starlette.responses import Response, StreamingResponse

from admin.desk import Desk
from admin.limits import BadValue
from admin.state import audit
from admin.state.audit import Entry, Wanted
from edge.core.moments import moment_text

EXPORT_STEP = 1_000


def exported(room: Desk, wanted: Wanted) -> Response:
    """All entries as one answer of JSON lines, read piece by piece."""

    async def lines() -> AsyncIterator[str]:
        before_id: int | None = None
        while True:
            look = partial(audit.page, wanted=wanted, limit=EXPORT_STEP, before_id=before_id)
            found = await room.db.read(look)
            if not found:
                return
            yield "".join(json.dumps(public(entry), ensure_ascii=False) + "\n" for entry in found)
            before_id = found[-1].id

    name = f"stanchion-audit-{moment_text(int(room.unix_s() * 1000))[:10]}.jsonl"
    return StreamingResponse(
        lines(), media_type="application/jsonl", headers={"Content-Disposition": f'attachment; filename="{name}"'}
    )


def wanted_of(query: Mapping[str, str]) -> Wanted:
    """Which entries a query asks for. Raises BadValue."""
    texts = {name: query.get(name, "").strip() for name in ("who", "action", "target")}
    return Wanted(**texts, from_ms=_moment("since", query), until_ms=_moment("until", query))


def _moment(name: str, query: Mapping[str, str]) -> int | None:
    text = query.get(name, "").strip()
    if not text:
        return None
    try:
        at = datetime.fromisoformat(text)
        return int((at if at.tzinfo else at.replace(tzinfo=UTC)).timestamp() * 1000)
    except (ValueError, OverflowError):
        raise BadValue(name, f"{text[:40]!r} is no moment; one is 2026-03-01T12:00:00Z, or a day in UTC: 2026-03-01") from None


def public(entry: Entry) -> dict[str, Any]:
    """An entry as it is answered."""
    fields = asdict(entry)
    return {"id": fields.pop("id"), "at": moment_text(fields.pop("at_ms")), **fields}
