"""Where a load may go: this machine and nowhere else."""

from __future__ import annotations

from ipaddress import ip_address
from urllib.parse import urlsplit


class TargetError(Exception):
    """An address that no load is sent to; the message says which are."""


def checked_target(url: str) -> str:
    """The address, if it is one of this machine. Raises TargetError.

    Names are not looked up, `localhost` apart, which is taken for 127.0.0.1: what a name means may change between two looks.
    """
    try:
        parts = urlsplit(url)
        host, port = parts.hostname or "", parts.port or 80
    except ValueError as error:
        raise TargetError(f"{url!r} is no address: {error}") from error
    host = "127.0.0.1" if host == "localhost" else host
    try:
        is_here = ip_address(host).is_loopback
    except ValueError:
        is_here = False
    if parts.scheme != "http" or not is_here or parts.username or parts.password:
        raise TargetError(f"{url!r} is refused: only http on this machine, like http://127.0.0.1:8080/launch/")
    shown = f"[{host}]" if ":" in host else host
    return f"http://{shown}:{port}{parts.path or '/'}{'?' + parts.query if parts.query else ''}"
