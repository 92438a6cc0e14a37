"""The shapes of people, tokens and the audit log in the API."""

from __future__ import annotations

from typing import Any

from pydantic import Field

from admin.access.api_tokens import DAYS_AT_MOST, NAME_MAX
from admin.access.permissions import ALL, ROLES
from admin.api.etags import IF_MATCH
from admin.api.models import Shape, json_body

_ROLES = f"One of {', '.join(ROLES)}."
_SCOPES = f"Of {', '.join(sorted(ALL))}."


class MeShape(Shape):
    """Who asks."""

    name: str
    role: str = Field(description=f"{_ROLES} Of a token: token.")
    scopes: list[str] = Field(description=_SCOPES)


class PersonShape(Shape):
    """One who may sign in to the console."""

    id: str
    name: str
    role: str = Field(description=_ROLES)
    disabled: bool = Field(description="Shut out: cannot sign in.")
    second_factor: bool = Field(description="A code of a device is asked for beside the password.")
    signs_in_elsewhere: bool = Field(description="Has signed in by the OIDC provider.")
    created_at: str = Field(description="RFC 3339, UTC.")
    seen_at: str | None = Field(description="The last sign of life in the console; null: never.")


class PeopleList(Shape):
    """People by name."""

    people: list[PersonShape]
    next: str | None = Field(description="Give it as `after` for those who follow; null: these were the last.")


class InvitedShape(Shape):
    """A person, and the link by which they choose a password."""

    person: PersonShape
    link: str = Field(description="Good once. It is in this answer and nowhere else.")
    expires_at: str = Field(description="RFC 3339, UTC.")


class TokenShape(Shape):
    """A token of this API, without its secret."""

    id: str
    name: str
    scopes: list[str] = Field(description=_SCOPES)
    created_by: str
    created_at: str = Field(description="RFC 3339, UTC.")
    expires_at: str | None = Field(description="null: good until it is ended.")
    used_at: str | None = Field(description="The last use, to the minute; null: never.")
    ended_at: str | None = Field(description="null: it has not been ended.")


class MadeTokenShape(TokenShape):
    """A new token."""

    secret: str = Field(description="What goes into Authorization: Bearer. It is in this answer and nowhere else.")


class TokenList(Shape):
    """All tokens, the newest first."""

    tokens: list[TokenShape]


class EntryShape(Shape):
    """One deed."""

    id: int = Field(description="Counts up.")
    at: str = Field(description="RFC 3339, UTC.")
    who: str = Field(description="The name of a person, or of a token.")
    role: str = Field(description="The role that they had then.")
    via: str = Field(description="console, api, command line or schedule.")
    action: str = Field(description="Such as queue.pause.")
    target: str = Field(description="Such as queue:sale.")
    before: dict[str, Any] | None = Field(description="What it changed, as it was.")
    after: dict[str, Any] | None = Field(description="What it changed, as it became.")
    note: str
    request_id: str = Field(description="Of the request, as in its X-Request-Id and in the log.")


class EntryList(Shape):
    """Entries of the audit log, the newest first."""

    entries: list[EntryShape]
    next: str | None = Field(description="Give it as `after` for those before these; null: there are no older ones.")


def _object(properties: dict[str, Any], required: list[str]) -> dict[str, Any]:
    return json_body({"type": "object", "required": required, "additionalProperties": False, "properties": properties})


_ROLE = {"type": "string", "enum": list(ROLES)}
PERSON_BODY = _object({"name": {"type": "string", "minLength": 1, "maxLength": 80}, "role": _ROLE}, ["name", "role"])
PERSON_CHANGE_BODY: dict[str, Any] = {"parameters": [IF_MATCH]} | json_body(
    {
        "type": "object",
        "minProperties": 1,
        "maxProperties": 1,
        "additionalProperties": False,
        "properties": {"role": _ROLE, "disabled": {"type": "boolean"}},
    }
)
LINK_BODY = _object({"drop_second_factor": {"type": "boolean", "default": False}}, [])
TOKEN_BODY = _object(
    {
        "name": {"type": "string", "minLength": 1, "maxLength": NAME_MAX},
        "scopes": {"type": "array", "minItems": 1, "items": {"type": "string", "enum": sorted(ALL)}},
        "days": {"type": ["integer", "null"], "minimum": 1, "maximum": DAYS_AT_MOST, "default": None},
    },
    ["name", "scopes"],
)
