"""What a body may say, beyond being JSON: every unknown key and every wrong value is named."""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping
from dataclasses import dataclass
from typing import Any

from admin.invitations import LINKS_AT_MOST, VALID_AT_MOST_S
from admin.limits import BadValue
from admin.operations import ADMIT_AT_MOST
from admin.visits import VERBS, Verb
from edge.core.conclude import UNITS_AT_MOST
from edge.core.invites import safe_path


@dataclass(frozen=True)
class Batch:
    """People to call. `over_rate`: they come in whatever the rate; `lane`: of this lane only."""

    count: int
    over_rate: bool = False
    lane: str | None = None


def keys(body: Any, required: Collection[str], optional: Collection[str] = ()) -> Mapping[str, Any]:
    """The body as an object with these keys. Raises BadValue."""
    names = ", ".join([*required, *(f"{name} (optional)" for name in optional)])
    if not isinstance(body, dict):
        raise BadValue("body", f"must be an object with {names}")
    for name in body:
        if name not in required and name not in optional:
            raise BadValue(repr(name)[:60], f"is not known here; this takes {names}")
    for name in required:
        if name not in body:
            raise BadValue(name, f"is missing; this takes {names}")
    return body


def only(body: Any, name: str) -> Any:
    """The value of the one key that the body has. Raises BadValue."""
    return keys(body, (name,))[name]


def whole(value: Any, at: str, least: int, most: int) -> int:
    """A whole number. Raises BadValue."""
    if isinstance(value, bool) or not isinstance(value, int) or not least <= value <= most:
        raise BadValue(at, f"{repr(value)[:40]} is not allowed: a whole number from {least} to {most}")
    return value


def check_batch(body: Any) -> Batch:
    """The batch of a body. Raises BadValue."""
    given = keys(body, ("count",), ("over_rate", "lane"))
    over_rate, lane = given.get("over_rate", False), given.get("lane")
    if not isinstance(over_rate, bool):
        raise BadValue("over_rate", f"{repr(over_rate)[:40]} is not allowed: true or false")
    if lane is not None and not isinstance(lane, str):
        raise BadValue("lane", f"{repr(lane)[:40]} is not allowed: the name of a lane, or null")
    return Batch(whole(given["count"], "count", 1, ADMIT_AT_MOST), over_rate, lane)


def check_visit(body: Any) -> tuple[Verb, int]:
    """What is said of a visit, and of how many units. Raises BadValue."""
    given = keys(body, ("action",), ("units",))
    verb = given["action"]
    if verb not in VERBS:
        raise BadValue("action", f"{repr(verb)[:40]} is not allowed: {', '.join(VERBS)}")
    if "units" in given and verb != "complete":
        raise BadValue("units", f"means nothing with {verb}: only complete sells units")
    return verb, whole(given.get("units", 1), "units", 1, UNITS_AT_MOST)


@dataclass(frozen=True)
class Wanted:
    """Invitations to make. `base_url`: scheme and host of the site, empty: links are paths; `to`: where they lead."""

    lane: str
    count: int
    valid_for_s: int
    base_url: str
    to: str


def check_invitations(body: Any) -> Wanted:
    """The invitations of a body. Raises BadValue."""
    given = keys(body, ("lane", "count", "valid_for_s"), ("base_url", "to"))
    lane, base_url, to = given["lane"], given.get("base_url", ""), given.get("to", "")
    if not isinstance(lane, str):
        raise BadValue("lane", f"{repr(lane)[:40]} is not allowed: the name of a lane with invite: true")
    if not isinstance(base_url, str) or (base_url and not re.fullmatch(r"https?://[^/?#\s]+/?", base_url)):
        raise BadValue("base_url", f"{repr(base_url)[:80]} is not allowed: scheme and host, such as https://shop.example.org")
    if not isinstance(to, str) or (to and safe_path(to) is None):
        raise BadValue("to", f"{repr(to)[:80]} is not allowed: a path of the site, one that starts with one /")
    count = whole(given["count"], "count", 1, LINKS_AT_MOST)
    return Wanted(lane, count, whole(given["valid_for_s"], "valid_for_s", 1, VALID_AT_MOST_S), base_url, to)


def check_revoke(body: Any) -> tuple[str, str | None]:
    """Whose visit is to end, and of which lane. Raises BadValue."""
    given = keys(body, ("visit",), ("lane",))
    who, lane = given["visit"], given.get("lane")
    if not isinstance(who, str):
        raise BadValue("visit", "must be text: the number of a place or the id of a visitor")
    if lane is not None and not isinstance(lane, str):
        raise BadValue("lane", f"{repr(lane)[:40]} is not allowed: the name of a lane, or null")
    return who, lane
