"""The shapes of the schedule, for the API's description."""

from __future__ import annotations

from typing import Any

from pydantic import BaseModel, ConfigDict, Field

from admin.api.models import json_body
from admin.operate.schedule import ACTIONS, LATE_AT_MOST_S


class StepShape(BaseModel):
    """Live limits or an action at a moment."""

    model_config = ConfigDict(extra="forbid")

    id: str
    queue: str
    at: str = Field(description="RFC 3339, UTC.")
    changes: dict[str, Any] | None = Field(description="Limits as in PATCH .../limits; null for an action.")
    action: str | None = Field(description=", ".join(ACTIONS))
    by: str = Field(description="Who put it there.")
    done_at: str | None = Field(description="null: still to come.")
    outcome: str = Field(
        description=f"done (late, if so), refused and why, or missed: more than {LATE_AT_MOST_S} s late; empty while to come."
    )


class ScheduleShape(BaseModel):
    """`to_come` in the order of time, `over` the latest first."""

    model_config = ConfigDict(extra="forbid")

    to_come: list[StepShape]
    over: list[StepShape]


STEP_BODY = json_body(
    {
        "type": "object",
        "required": ["at"],
        "additionalProperties": False,
        "properties": {
            "at": {"type": "string", "description": "RFC 3339 with its offset; with `zone` the time there: 2026-12-01T20:00."},
            "zone": {"type": "string", "description": "An IANA time zone, as Europe/Berlin."},
            "fold": {"type": "string", "enum": ["first", "second"], "description": "Of an hour that comes twice."},
            "changes": {"type": "object", "description": "As in PATCH .../limits."},
            "action": {"type": "string", "enum": list(ACTIONS)},
        },
    }
)
