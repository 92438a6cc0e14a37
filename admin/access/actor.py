"""Who a request comes from."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from starlette.requests import Request

from admin.access.permissions import ALL, OWNER, Permission

Via = Literal["console", "api", "command line", "schedule"]


class SignInNeeded(Exception):
    """Nobody is signed in on this request."""


class NotAllowed(Exception):
    """Who asks is known and may not do this."""

    def __init__(self, actor: Actor, permission: Permission) -> None:
        super().__init__(f"{actor.name} ({actor.role}) may not {permission}")
        self.actor = actor
        self.permission = permission


@dataclass(frozen=True)
class Actor:
    """A person in the console, or the holder of a token. `user_id` and `session` (its hash) are empty where there is none."""

    name: str
    role: str
    via: Via
    permissions: frozenset[Permission]
    user_id: str = ""
    session: str = ""
    seen_at_ms: int = 0
    language: str = ""
    zone: str = ""

    def may(self, permission: Permission | str) -> bool:
        """Whether this is allowed to them."""
        return permission in self.permissions


# What the app does by itself at a set time; `schedule(by)` names who asked for it.
def schedule(by: str) -> Actor:
    """The app at a moment that somebody set."""
    return Actor(by, OWNER, "schedule", ALL)


def find_actor(request: Request) -> Actor | None:
    """Who asks, or None for nobody."""
    found: Actor | None = request.scope.setdefault("state", {}).get("actor")
    return found


def actor(request: Request) -> Actor:
    """Who asks. Raises SignInNeeded."""
    found = find_actor(request)
    if found is None:
        raise SignInNeeded
    return found


def set_actor(request: Request, found: Actor | None) -> None:
    """Says who asks."""
    request.scope.setdefault("state", {})["actor"] = found
