"""The health of the surroundings, for the head of every page: what does not answer, in words."""

from __future__ import annotations

from dataclasses import dataclass

from starlette.requests import Request

from admin.desk import desk
from admin.words import _


@dataclass(frozen=True)
class Health:
    """`problems`: a name and a sentence for each; none: all is well."""

    problems: tuple[tuple[str, str], ...]


def health_of(request: Request) -> Health:
    """What was seen the last time that Redis and the KV store were asked; asks nobody itself."""
    room = desk(request)
    problems = []
    if room.watch.problem:
        problems.append((_("Redis is away"), room.watch.problem))
    published = room.source.last.problem
    if published:
        problems.append((_("Configuration"), published))
    away = request.scope.get("state", {}).get("state_problem", "")
    if away:
        problems.append((_("Database is away"), away))
    return Health(tuple(problems))
