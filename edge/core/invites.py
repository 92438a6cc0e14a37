"""Invitations: signed links that lead into a lane, each good for one visitor.

A link proves itself: it names queue, lane and its own id, and when it runs out. That it is used once only is kept in Redis: the
join gives the lane to the first visitor who comes with the id, and the ordinary line to any other.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from urllib.parse import quote, unquote, unquote_to_bytes, urlencode

from edge.core.errors import TokenError
from edge.core.keyring import Keyring
from edge.core.model import Queue

ID_BYTES = 12
_PATH_MAX = 1024
# What a path may keep as it is in a Location header (RFC 3986: path, query, and what is percent-encoded already).
_SAFE = "/?:@!$&'()*+,;=-._~%"


@dataclass(frozen=True, slots=True)
class Invite:
    """One invitation. `id`: unique, what Redis remembers; `lane` by its name, so that lanes may change their order."""

    queue: str
    lane: str
    id: str
    expires_ms: int


def write_invite(ring: Keyring, invite: Invite) -> str:
    """The signed text of an invitation."""
    claims = {"q": invite.queue, "n": invite.lane, "i": invite.id, "x": invite.expires_ms // 1000}
    return ring.sign("invite", claims)


def read_invite(ring: Keyring, text: str, queue_id: str) -> Invite:
    """The invitation of a text. Raises TokenError: not ours, of another kind, or for another queue. Expiry is the caller's."""
    kind, claims = ring.verify(text)
    if kind != "invite":
        raise TokenError("no invitation")
    try:
        invite = Invite(str(claims["q"]), str(claims["n"]), str(claims["i"]), int(claims["x"]) * 1000)
    except (KeyError, TypeError, ValueError, OverflowError) as error:
        raise TokenError(f"claims of another shape: {error}") from error
    if invite.queue != queue_id:
        raise TokenError("for another queue")
    return invite


def line_of(queue: Queue, invite: Invite) -> int | None:
    """The line in the scope that an invitation leads to; None when the queue has no such lane, or it takes no invitations now."""
    for index, lane in enumerate(queue.lanes):
        if lane.name == invite.lane and lane.invite:
            return queue.line + index
    return None


def link(base_url: str, queue_id: str, text: str, to: str = "") -> str:
    """The address of an invitation. `base_url`: scheme and host of the site; `to`: where it leads, or empty."""
    query = {"t": text} | ({"to": to} if to else {})
    return f"{base_url.rstrip('/')}/.stanchion/{queue_id}/invite?{urlencode(query)}"


def query_of(target: str) -> Mapping[str, str]:
    """The parameters of a request target; of one that stands twice the first."""
    found: dict[str, str] = {}
    for pair in target.partition("?")[2].split("&"):
        name, _, value = pair.partition("=")
        # Bytes that are no UTF-8 stay as they are in no address of ours: they are replaced, and then refused or harmless.
        found.setdefault(unquote(name), unquote_to_bytes(value.replace("+", " ")).decode("utf-8", "replace"))
    return found


def safe_path(to: str) -> str | None:
    """A path of this same site as a Location header may have it; None for what could lead elsewhere, or is no path."""
    is_path = to.startswith("/") and len(to) <= _PATH_MAX and to.isprintable()
    # `//host`, `/\\host`: browsers read both as another host, and tabs and line feeds within them as nothing.
    if not is_path or to[1:2] in ("/", "\\") or "\\" in to or to.startswith("/.stanchion/"):
        return None
    return quote(to, safe=_SAFE)
