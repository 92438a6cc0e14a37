"""Who may take out and put back which part of the file."""

from __future__ import annotations

from collections.abc import Collection, Mapping

from admin.access.actor import Actor, NotAllowed
from admin.access.permissions import Permission
from admin.transfer.bundle import PARTS, Bundle

# Names and roles of people are for those who look after them.
TO_EXPORT: Mapping[str, Permission] = {"people": Permission.MANAGE_PEOPLE}
TO_IMPORT: Mapping[str, Permission] = {
    "configuration": Permission.CONFIGURE,
    "crawlers": Permission.CONFIGURE,
    "schedule": Permission.OPERATE,
    "pages": Permission.PUBLISH_PAGES,
    "sources": Permission.PUBLISH_PAGES,
    "drafts": Permission.EDIT_PAGES,
    "people": Permission.MANAGE_PEOPLE,
}


def may_export(who: Actor) -> list[str]:
    """The parts that they may take out."""
    return [part for part in PARTS if who.may(TO_EXPORT.get(part, Permission.SEE))]


def check_export(who: Actor, parts: Collection[str]) -> None:
    """Raises NotAllowed for a part that is not theirs to take out."""
    for part in parts:
        needed = TO_EXPORT.get(part, Permission.SEE)
        if not who.may(needed):
            raise NotAllowed(who, needed)


def check_import(who: Actor, bundle: Bundle) -> None:
    """Raises NotAllowed for the first part of the file that is not theirs to put back."""
    for part, needed in TO_IMPORT.items():
        if getattr(bundle, part) is not None and not who.may(needed):
            raise NotAllowed(who, needed)
