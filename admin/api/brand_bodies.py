"""What the routes of brands take, for their description."""

from __future__ import annotations

from typing import Any

from admin.api.models import json_body

IF_MATCH: dict[str, Any] = {
    "parameters": [
        {
            "name": "If-Match",
            "in": "header",
            "required": True,
            "description": 'The ETag of what was read; "0" where there is nothing yet.',
            "schema": {"type": "string"},
        }
    ]
}
BRAND_BODY = json_body(
    {
        "type": "object",
        "required": ["id"],
        "additionalProperties": False,
        "properties": {
            "id": {"type": "string", "pattern": "^[a-z][a-z0-9-]{0,39}$"},
            "from": {"type": "string", "default": "", "description": "A brand to copy."},
        },
    }
)
DRAFT_BODY = IF_MATCH | json_body(
    {
        "type": "object",
        "required": ["files"],
        "additionalProperties": False,
        "properties": {
            "files": {
                "type": "object",
                "description": "Every file by name: a text, or {base64} for a picture. brand.json is always there.",
                "additionalProperties": {
                    "anyOf": [
                        {"type": "string"},
                        {"type": "object", "required": ["base64"], "properties": {"base64": {"type": "string"}}},
                    ]
                },
            }
        },
    }
)
NOTE_BODY = IF_MATCH | json_body(
    {
        "type": "object",
        "additionalProperties": False,
        "properties": {"note": {"type": "string", "maxLength": 200, "description": "What changed, for the history."}},
    }
)
ROLL_BACK_BODY = json_body(
    {
        "type": "object",
        "required": ["version", "in_force"],
        "additionalProperties": False,
        "properties": {"version": {"type": "integer", "minimum": 0}, "in_force": {"type": "integer", "minimum": 0}},
    }
)
