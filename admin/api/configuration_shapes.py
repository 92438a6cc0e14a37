"""The shapes of the configuration over the API, for its OpenAPI description."""

from __future__ import annotations

from typing import Any

from pydantic import BaseModel, ConfigDict, Field

from edge.core.config import json_schema


class _Shape(BaseModel):
    model_config = ConfigDict(extra="forbid")


class ChangeShape(_Shape):
    """One difference between two configurations."""

    code: str = Field(description="What kind: queue_key, queue_added, queue_removed, group_…, order, reset, lines, unguarded.")
    target: str = Field(description="queue:ID or group:ID; empty for the whole.")
    key: str | None = Field(description="The key of the entry.")
    before: Any
    after: Any
    words: str


class WarningShape(_Shape):
    """Something that works as written and is probably not meant."""

    queue: str
    what: str
    url: str
    advice: str
    rule: str


class ChangedShape(_Shape):
    """What a publish did."""

    published: bool = Field(description="false: it said the same in the same words, so nothing was written.")
    etag: str = Field(description="Of the whole configuration as it is now.")
    changes: list[ChangeShape]
    raised: list[str] = Field(description="Queues and groups that got a higher config_version.")
    warnings: list[WarningShape]


class ErrorShape(_Shape):
    """A fault with its place."""

    at: str
    problem: str


class PlanShape(_Shape):
    """What a configuration would change."""

    etag: str = Field(description="Of the published one: If-Match for a publish.")
    errors: list[ErrorShape]
    changes: list[ChangeShape]


class VersionHead(_Shape):
    """A version of the configuration."""

    id: int
    at: str = Field(description="When it was published or found, RFC 3339, UTC.")
    by: str | None = Field(description="Who published it; null: another program.")
    note: str
    found: bool = Field(description="It was found in the store, put there by another program.")
    sha256: str
    size_bytes: int


class VersionShape(VersionHead):
    """A version with its configuration."""

    configuration: Any


class VersionList(_Shape):
    """Versions, the newest first."""

    versions: list[VersionHead]
    next: int | None = Field(description="Give it as `after` for older ones; null: these were the last.")


class DiffShape(BaseModel):
    """Differences between two versions."""

    model_config = ConfigDict(extra="forbid", populate_by_name=True)
    start: str | None = Field(alias="from", description="previous, current or a number; null: there is none before.")
    to: int
    changes: list[ChangeShape]


class StepShape(_Shape):
    """One step of an explanation."""

    code: str
    words: str
    values: dict[str, str]


class ExplainedShape(_Shape):
    """Which queue decides for a request, and why."""

    outcome: str = Field(description="bypass, admit, hold, refuse, answer or depends.")
    words: str
    queue: str | None
    steps: list[StepShape]
    note: str = Field(description="Why the state of the queue was not read, or empty.")


def _body(schema: dict[str, Any]) -> dict[str, Any]:
    return {"requestBody": {"required": True, "content": {"application/json": {"schema": schema}}}}


def _configuration() -> dict[str, Any]:
    return {key: item for key, item in json_schema().items() if not key.startswith("$")}


IF_MATCH: dict[str, Any] = {
    "parameters": [
        {
            "name": "If-Match",
            "in": "header",
            "required": True,
            "description": "The ETag of what was read; * for whatever is there.",
            "schema": {"type": "string", "minLength": 1, "maxLength": 100},
        }
    ]
}
CONFIGURATION_BODY = _body(_configuration())
PLAN_BODY = _body({"type": "object", "description": "A configuration, right or wrong."})
ENTRY_BODY = _body({"type": "object", "description": "Keys of a queue or a group, as in the configuration's JSON Schema."})
EXPLAIN_BODY = _body(
    {
        "type": "object",
        "required": ["url"],
        "additionalProperties": False,
        "properties": {
            "url": {"type": "string", "minLength": 1, "maxLength": 8192},
            "method": {"type": "string", "default": "GET", "maxLength": 32},
            "country": {"type": "string", "default": "", "maxLength": 2, "description": "Two letters; empty: not known."},
            "client": {"type": "string", "default": "", "maxLength": 64, "description": "The visitor's network address."},
            "headers": {"type": "object", "additionalProperties": {"type": "string"}, "maxProperties": 50},
        },
    }
)
