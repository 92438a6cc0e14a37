"""The rooms of the console: what stands in its rail, in this order, for those who may enter."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from admin.access.actor import Actor
from admin.access.permissions import Permission
from admin.words import N_, gettext


@dataclass(frozen=True)
class Room:
    """`path`: its first page; `below`: its other pages begin so; `icon`: a symbol of `shapes.html`."""

    path: str
    name: str
    permission: Permission
    icon: str
    below: tuple[str, ...] = ()

    @property
    def label(self) -> str:
        """The name in the language of the request."""
        return gettext(self.name)

    def holds(self, path: str) -> bool:
        """Whether a page is of this room."""
        return path == self.path or (bool(self.below) and path.startswith(self.below))


# In the order of the rail.
ROOMS: Sequence[Room] = (
    Room("/", N_("Queues"), Permission.SEE, "queues", ("/queues/",)),
    Room("/schedule", N_("Schedule"), Permission.SEE, "schedule", ("/schedule/",)),
    Room("/pages", N_("Pages"), Permission.SEE, "pages", ("/pages/",)),
    Room("/configuration", N_("Settings"), Permission.SEE, "settings", ("/configuration/",)),
    Room("/people", N_("People"), Permission.MANAGE_PEOPLE, "people", ("/people/", "/tokens")),
    Room("/audit", N_("Audit"), Permission.SEE_AUDIT, "audit"),
)


def rooms_for(who: Actor | None) -> list[Room]:
    """Those that this person may enter."""
    return [room for room in ROOMS if who is not None and who.may(room.permission)]
