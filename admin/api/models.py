"""The shapes that the API answers with and takes, for its OpenAPI description."""

from __future__ import annotations

from typing import Annotated, Any, Literal

from fastapi import Path
from pydantic import BaseModel, ConfigDict, Field

from admin.invitations import LINKS_AT_MOST, VALID_AT_MOST_S
from admin.limits import BOUNDS, FROM_CONFIG
from admin.operations import ADMIT_AT_MOST
from admin.steps import BEACON_MAX, MESSAGE_MAX
from admin.visits import VERBS
from edge.core.conclude import UNITS_AT_MOST
from edge.core.states import MODES, QUEUE_STATES


class Shape(BaseModel):
    """What is not named in a shape is in no answer."""

    model_config = ConfigDict(extra="forbid")


# What a database can count to, and JavaScript too.
NUMBER_MAX = 2**53
VersionId = Annotated[int, Path(ge=1, le=NUMBER_MAX, description="Number of a version.")]


class LimitsShape(Shape):
    """Limits in force; null: no limit."""

    admit_per_minute: int | None = Field(description="Admissions per minute.")
    burst: int | None = Field(description="Admissions that idle time may save up; null: a sixth of the rate, at least 1.")
    max_active: int | None = Field(description="People inside at one time, called ones counted.")
    inventory: int | None = Field(description="Units that can be sold.")
    manual: bool = Field(description="People are called only in batches that an operator asks for.")
    always_queue: bool = Field(description="Everyone passes through the line, also when nobody waits.")
    live: list[str] = Field(description="Limits that an operator set; they outlive a publish that leaves them alone.")


class LaneShape(Shape):
    """One lane of the queue; a queue without lanes has one that has no name."""

    name: str | None
    share: int = Field(description="Its part of the calls among all lanes of the queue, or of its group.")
    waiting: int = Field(description="People who wait in it.")


class CountsShape(Shape):
    """What became of visits and places in this epoch, each way out counted once."""

    admitted: int = Field(description="People who came in; the last seconds may be missing.")
    completed: int = Field(description="Visits that the site ended as sold.")
    left: int = Field(description="Visits and places that their visitor gave up.")
    revoked: int = Field(description="Visits that the site or an operator ended.")
    idle_expired: int = Field(description="Visits that ended for silence (idle_s).")
    pass_expired: int = Field(description="Visits that reached visit_max_s.")
    checkout_expired: int = Field(description="Visits whose checkout_s ran out.")
    missed: int = Field(description="Turns that were not taken.")
    lapsed: int = Field(description="Places lost after missed turns.")
    overrun: int = Field(description="Units that the site reported beyond what was free.")
    undelivered: int = Field(description="Visits whose pass could not reach the visitor.")
    sold: int = Field(description="Units sold.")
    turns: int = Field(description="Turns given: people called, those twice who came back for a second turn.")


class QueueShape(Shape):
    """A queue.

    When Redis has no state for it, the status is `missing`, counts are 0, epoch and config_version are null, and the limits are
    those that the published configuration says.
    """

    id: str
    status: str = Field(description=f"missing, or a state of the queue: {', '.join(QUEUE_STATES)}.")
    epoch: str | None = Field(description="The generation: places and passes of another one are not valid.")
    length: int = Field(description="Positions given in this epoch.")
    cursor: int = Field(description="Highest position called.")
    waiting: int = Field(description="People who wait.")
    called: int = Field(description="People whose turn has come and who have not come in yet.")
    inside: int = Field(description="People inside.")
    admitted_last_minute: int = Field(description="People who came in during the last 60 s.")
    limits: LimitsShape
    config_version: int | None = Field(description="Version of the configuration in force.")
    mode: str = Field(description=f"What an operator said last: {', '.join(MODES)}. Schedule and stock may say otherwise.")
    opens_at: str | None = Field(description="RFC 3339, UTC; null: no opening.")
    closes_at: str | None = Field(description="RFC 3339, UTC; null: no end.")
    opened_at: str | None = Field(description="When it opened; null before, and for a queue without opens_at.")
    message: str = Field(description="The operator's message to those who wait, or empty.")
    beacon: str = Field(description="The value of the public random round that was given for the draw, or empty.")
    awaits: Literal["beacon", "draw"] | None = Field(
        description="What a queue past its opens_at still waits for: the value of the beacon that it names (POST .../beacon), or"
        " the draw by the next request that an edge gets; null: nothing."
    )
    paused_alone: bool = Field(description="Whether this queue of a group is paused by itself; then its status is paused.")
    group: str | None = Field(description="The group whose totals it shares: then all numbers but `lanes` are the group's.")
    concerned: str = Field(
        description="What a step concerns: this queue, or all queues of its group, by their ids; after a step on one alone"
        " (pause_alone, open_alone, a batch of one lane), that one."
    )
    lanes: list[LaneShape]
    counts: CountsShape
    inventory_left: int | None = Field(description="Units neither sold nor held by someone inside or called; null: no inventory.")
    outflow_per_minute: float | None = Field(description="Admissions a minute to reckon with; null: not known yet.")
    present_share: float | None = Field(description="Part of those far back who still show life, 0 to 1, by a sample.")


class QueueList(Shape):
    """Queues in the order of the configuration."""

    queues: list[QueueShape]
    next: str | None = Field(description="Give it as `after` for the queues that follow; null: these were the last.")


class AdmittedShape(Shape):
    """What became of a batch."""

    asked: int
    called: int = Field(description="People called; fewer than asked when fewer wait or there is no more room.")
    note: str = Field(description="Why fewer were called than asked; otherwise empty.")
    queue: QueueShape


class VisitShape(Shape):
    """What became of a step on a visit."""

    queue: str
    action: str = Field(description=", ".join(VERBS))
    outcome: str = Field(
        description="freed: ended now. late: sold after the pass had run out, counted. already: had ended before, nothing is"
        " changed. left: was only waiting. checkout: the payment has its time."
    )
    ends_at: str | None = Field(description="When the checkout ends, RFC 3339; null for other actions.")
    expires_at: str | None = Field(description="When the visit ends at the latest; null for other actions.")
    renew_at: str | None = Field(description="From when the visitor's pass is renewed; null for other actions.")


class InvitedShape(Shape):
    """Links, each good for one visitor."""

    lane: str
    expires_at: str = Field(description="RFC 3339, UTC.")
    links: list[str] = Field(description="Addresses at the site of base_url, without one their paths.")


class ProblemShape(BaseModel):
    """An error (RFC 9457)."""

    type: str
    title: str
    status: int
    detail: str = Field(description="What was wrong, and what to do.")
    request_id: str = Field(default="", description="Stands in the log too, and in the header X-Request-Id.")
    needs: str = Field(default="", description="With 403: the scope that the token lacks.")
    code: str = Field(default="", description="For programs, at visits and where a setting is missing.")
    free_units: int = Field(default=0, description="With code reclaimed: units that are free for this visit.")


def json_body(schema: dict[str, Any]) -> dict[str, Any]:
    """`openapi_extra` of a route that reads this body itself."""
    return {"requestBody": {"required": True, "content": {"application/json": {"schema": schema}}}}


# `openapi_extra` of every route that takes the key.
IDEMPOTENT: dict[str, Any] = {
    "parameters": [
        {
            "name": "Idempotency-Key",
            "in": "header",
            "required": False,
            "description": "A repeat with the same key changes nothing, for an hour at least; with another body: 422.",
            "schema": {"type": "string", "minLength": 1, "maxLength": 255},
        }
    ]
}
ADMIT_BODY = IDEMPOTENT | json_body(
    {
        "type": "object",
        "required": ["count"],
        "additionalProperties": False,
        "properties": {
            "count": {"type": "integer", "minimum": 1, "maximum": ADMIT_AT_MOST},
            "over_rate": {"type": "boolean", "default": False, "description": "They come in whatever the rate; caps hold."},
            "lane": {"type": ["string", "null"], "default": None, "description": "Of this lane only."},
        },
    }
)


def _one_text(name: str, least: int, most: int) -> dict[str, Any]:
    text = {"type": "string", "minLength": least, "maxLength": most}
    properties = {name: text}
    return json_body({"type": "object", "required": [name], "additionalProperties": False, "properties": properties})


MESSAGE_BODY = IDEMPOTENT | _one_text("text", 0, MESSAGE_MAX)
BEACON_BODY = IDEMPOTENT | _one_text("value", 1, BEACON_MAX)
LIMITS_BODY = IDEMPOTENT | json_body(
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
VISIT_BODY = json_body(
    {
        "type": "object",
        "required": ["action"],
        "additionalProperties": False,
        "properties": {
            "action": {"type": "string", "enum": list(VERBS)},
            "units": {"type": "integer", "minimum": 1, "maximum": UNITS_AT_MOST, "default": 1, "description": "With complete."},
        },
    }
) | {
    "parameters": [
        {
            "name": "Stanchion-Pass",
            "in": "header",
            "required": True,
            "description": "The pass that the visitor's request brought to the site, at most a minute old.",
            "schema": {"type": "string"},
        }
    ]
}
INVITATIONS_BODY = json_body(
    {
        "type": "object",
        "required": ["lane", "count", "valid_for_s"],
        "additionalProperties": False,
        "properties": {
            "lane": {"type": "string"},
            "count": {"type": "integer", "minimum": 1, "maximum": LINKS_AT_MOST},
            "valid_for_s": {"type": "integer", "minimum": 1, "maximum": VALID_AT_MOST_S},
            "base_url": {"type": "string", "default": "", "description": "Scheme and host of the site."},
            "to": {"type": "string", "default": "", "description": "Path of the site; default: the queue's first route."},
        },
    }
)
