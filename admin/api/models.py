"""The shapes that the API answers with and takes, for its OpenAPI description."""

from __future__ import annotations

from typing import Any

from pydantic import BaseModel, ConfigDict, Field

from admin.limits import BOUNDS, FROM_CONFIG
from admin.operations import ADMIT_AT_MOST


class _Shape(BaseModel):
    model_config = ConfigDict(extra="forbid")


class LimitsShape(_Shape):
    """Limits in force; null: no limit."""

    admit_per_minute: int | None = Field(description="Admissions per minute.")
    burst: int | None = Field(description="Admissions that idle time may save up; null: a sixth of the rate, at least 1.")
    max_active: int | None = Field(description="People inside at one time, called ones counted.")
    inventory: int | None = Field(description="Units that can be sold.")
    manual: bool = Field(description="People are called only in batches that an operator asks for.")
    always_queue: bool = Field(description="Everyone passes through the line, also when nobody waits.")
    live: list[str] = Field(description="Limits that an operator set; they outlive a publish that leaves them alone.")


class QueueShape(_Shape):
    """A queue.

    When Redis has no state for it, the status is `missing`, counts are 0, epoch and config_version are null, and the limits are
    those that the published configuration says.
    """

    id: str
    status: str = Field(description="missing, open, paused, recovering, or a later state.")
    epoch: str | None = Field(description="The generation: places and passes of another one are not valid.")
    length: int = Field(description="Positions given in this epoch.")
    cursor: int = Field(description="Highest position called.")
    waiting: int = Field(description="People who wait.")
    called: int = Field(description="People whose turn has come and who have not come in yet.")
    inside: int = Field(description="People inside.")
    admitted_last_minute: int = Field(description="People who came in during the last 60 s.")
    limits: LimitsShape
    config_version: int | None = Field(description="Version of the configuration in force.")


class QueueList(_Shape):
    """Queues in the order of the configuration."""

    queues: list[QueueShape]
    next: str | None = Field(description="Give it as `after` for the queues that follow; null: these were the last.")


class AdmittedShape(_Shape):
    """What became of a batch."""

    asked: int
    called: int = Field(description="People called; fewer than asked when fewer wait or there is no more room.")
    note: str = Field(description="Why fewer were called than asked; otherwise empty.")
    queue: QueueShape


class ProblemShape(BaseModel):
    """An error (RFC 9457)."""

    type: str
    title: str
    status: int
    detail: str = Field(description="What was wrong, and what to do.")


def _json_body(schema: dict[str, Any]) -> dict[str, Any]:
    return {"requestBody": {"required": True, "content": {"application/json": {"schema": schema}}}}


# `openapi_extra` of every route that takes the key.
IDEMPOTENT: dict[str, Any] = {
    "parameters": [
        {
            "name": "Idempotency-Key",
            "in": "header",
            "required": False,
            "description": "A repeat with the same key changes nothing, for an hour at least.",
            "schema": {"type": "string", "minLength": 1, "maxLength": 255},
        }
    ]
}
ADMIT_BODY = IDEMPOTENT | _json_body(
    {
        "type": "object",
        "required": ["count"],
        "additionalProperties": False,
        "properties": {"count": {"type": "integer", "minimum": 1, "maximum": ADMIT_AT_MOST}},
    }
)
LIMITS_BODY = IDEMPOTENT | _json_body(
    {
        "type": "object",
        "minProperties": 1,
        "additionalProperties": False,
        "properties": {
            name: {
                "description": f'A number; null: no limit; "{FROM_CONFIG}": what the published configuration says.',
                "anyOf": [{"type": "integer", "minimum": low, "maximum": high}, {"type": "null"}, {"const": FROM_CONFIG}],
            }
            for name, (low, high) in BOUNDS.items()
        },
    }
)
