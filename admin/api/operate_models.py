"""The shapes of figures and history, for the API's description."""

from __future__ import annotations

from typing import Any

from pydantic import BaseModel, ConfigDict, Field

from admin.api.models import json_body


class _Shape(BaseModel):
    model_config = ConfigDict(extra="forbid")


class FunnelShape(_Shape):
    """How many came how far in this epoch."""

    arrived: int = Field(description="Places given.")
    waiting: int = Field(description="Wait now.")
    called: int = Field(description="Have their turn now and have not come in yet.")
    turns: int = Field(description="Turns given.")
    admitted: int = Field(description="Came in.")
    inside: int = Field(description="Are inside now.")
    completed: int
    left_inside: int = Field(description="Ended their visit themselves.")
    revoked: int
    idle_expired: int
    pass_expired: int
    checkout_expired: int
    undelivered: int
    left_waiting: int = Field(description="Gave their place up.")
    missed: int = Field(description="Turns that nobody took.")
    lapsed: int = Field(description="Places lost for missed turns.")
    absent: int = Field(description="Were away when their turn came, or let it go, and are not back.")


class PresenceShape(_Shape):
    """Those who wait: by signs of life near the head, by a sample behind it."""

    present: int
    absent: int


class BucketShape(_Shape):
    """People by time."""

    from_s: float
    to_s: float | None = Field(description="null: no end.")
    people: int


class TimesShape(_Shape):
    """A distribution; quantiles are right to a quarter of their value, null while there is nobody."""

    people: int
    unknown: int = Field(description="Counted, but when they joined was not known any more; in no bucket.")
    p10_s: float | None
    p50_s: float | None
    p90_s: float | None
    p99_s: float | None
    buckets: list[BucketShape]


class GaveUpShape(_Shape):
    """How long people held out."""

    left: TimesShape = Field(description="Said that they leave: counted.")
    silent: TimesShape = Field(description="Fell silent, to their last sign of life: counted near the head, estimated behind.")


class FiguresShape(_Shape):
    """Of a queue in a group the figures are the group's."""

    queue: str
    group: str | None
    at: str
    status: str
    epoch: str | None
    funnel: FunnelShape
    waiting: PresenceShape
    no_show_share: float | None = Field(description="Part of the turns that are over which nobody took; null before the first.")
    waited: TimesShape = Field(description="From joining, or from the opening, to coming in.")
    gave_up: GaveUpShape


class SampleShape(_Shape):
    """One look."""

    at: str
    waiting: int
    inside: int
    admitted_last_minute: int


class HistoryShape(_Shape):
    """Samples, oldest first; a gap means that nobody looked."""

    queue: str
    span_s: int
    problem: str = Field(description="Why the kept minutes could not be read, or empty.")
    samples: list[SampleShape]


class ChangeShape(_Shape):
    """A change of what is in force; the audit log has it too."""

    id: str
    at: str
    who: str
    action: str
    before: dict[str, Any]
    after: dict[str, Any]
    can_be_taken_back: bool


class LastShape(_Shape):
    """`last` null: nothing has been changed yet, or the log of changes cannot be read now."""

    last: ChangeShape | None


UNDO_BODY = json_body(
    {
        "type": "object",
        "required": ["change"],
        "additionalProperties": False,
        "properties": {"change": {"type": "string", "description": "id of the last change (GET .../change)."}},
    }
)
REVOKE_BODY = json_body(
    {
        "type": "object",
        "required": ["visit"],
        "additionalProperties": False,
        "properties": {
            "visit": {"type": "string", "description": "A visitor's id, or the number of a place."},
            "lane": {"type": ["string", "null"], "default": None, "description": "Of the place; default: the first."},
        },
    }
)
