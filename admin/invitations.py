"""Invitations into a lane of a queue: signed links, each good for one visitor."""

from __future__ import annotations

import base64
import secrets
from collections.abc import Callable
from dataclasses import dataclass

from admin.keys import needed
from admin.limits import BadValue
from admin.operations import Operations
from edge.core.invites import ID_BYTES, Invite, line_of, link, write_invite
from edge.core.keyring import Keyring

# A link has about 300 bytes: an answer stays below 3 MB.
LINKS_AT_MOST = 10_000
VALID_AT_MOST_S = 366 * 86_400


@dataclass(frozen=True)
class Invited:
    """Links of one kind, and until when (Unix ms) they are good."""

    lane: str
    links: tuple[str, ...]
    expires_ms: int


class Invitations:
    """Signs them. Nothing is stored: that each is used once is kept when it is used."""

    def __init__(self, operations: Operations, ring: Keyring | None, unix_s: Callable[[], float]) -> None:
        self._operations = operations
        self._ring = ring
        self._unix_s = unix_s

    async def make(self, queue_id: str, lane: str, count: int, valid_for_s: int, base_url: str = "", to: str = "") -> Invited:
        """`count` links; `base_url`: scheme and host of the site, empty: paths only; `to`: the path that they lead to.

        Raises UnknownQueue, NoKeys, and BadValue for a lane that takes no invitations.
        """
        queue = await self._operations.configured(queue_id)
        ring = needed(self._ring)
        if line_of(queue, Invite(queue.id, lane, "", 0)) is None:
            names = [each.name for each in queue.lanes if each.invite]
            known = f"lanes that do are {', '.join(names)}" if names else "the queue has no lane with invite: true"
            raise BadValue("lane", f"{lane[:40]!r} takes no invitations; {known}")
        expires_ms = (int(self._unix_s()) + valid_for_s) * 1000
        texts = (write_invite(ring, Invite(queue.id, lane, _new_id(), expires_ms)) for _ in range(count))
        return Invited(lane, tuple(link(base_url, queue.id, text, to) for text in texts), expires_ms)


def _new_id() -> str:
    return base64.urlsafe_b64encode(secrets.token_bytes(ID_BYTES)).decode()
