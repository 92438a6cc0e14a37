"""The signing keys, for what only they can prove: passes that a site shows, and invitations."""

from __future__ import annotations

from edge.core.keyring import Keyring


class NoKeys(Exception):
    """The app was started without the keys."""

    def __init__(self) -> None:
        super().__init__(
            "STANCHION_SIGNING_KEYS is not set for the admin app, so it can neither read a pass nor sign an invitation;"
            " start it with the keys of the edges"
        )


def needed(ring: Keyring | None) -> Keyring:
    """The keys. Raises NoKeys."""
    if ring is None:
        raise NoKeys
    return ring
