"""The rules that a setting's value must satisfy, by name. A rule answers None, or says what is allowed."""

from __future__ import annotations

import base64
import binascii
import ipaddress
import re
from collections.abc import Callable
from urllib.parse import urlsplit

Network = ipaddress.IPv4Network | ipaddress.IPv6Network

MAX_PORT = 65_535
MAX_WORKERS = 256
MAX_MILLISECONDS = 60_000
# RFC 7518, section 3.2: an HS256 key is at least as long as the hash output.
MIN_SIGNING_SECRET_BYTES = 32
_KEY_ID = re.compile(r"[A-Za-z0-9._-]{1,64}\Z")
_HEADER_NAME = re.compile(r"[!#$%&'*+.^_`|~0-9A-Za-z-]+\Z")
_HOST_NAME = re.compile(r"[A-Za-z0-9._-]{1,253}\Z")


def parse_networks(text: str) -> tuple[Network, ...]:
    """The networks of a comma-separated list. Raises ValueError naming the first that is none."""
    return tuple(ipaddress.ip_network(part.strip(), strict=False) for part in text.split(",") if part.strip())


def _check_port(value: str) -> str | None:
    fits = value.isascii() and value.isdigit() and int(value) <= MAX_PORT
    return None if fits else f"a whole number from 0 to {MAX_PORT}"


def _check_workers(value: str) -> str | None:
    fits = value.isascii() and value.isdigit() and 1 <= int(value) <= MAX_WORKERS
    return None if fits else f"a whole number from 1 to {MAX_WORKERS}"


def _check_count(value: str) -> str | None:
    fits = value.isascii() and value.isdigit() and len(value) <= 7 and 1 <= int(value) <= 1_000_000
    return None if fits else "a whole number from 1 to 1000000"


def _check_milliseconds(value: str) -> str | None:
    fits = value.isascii() and value.isdigit() and int(value) <= MAX_MILLISECONDS
    return None if fits else f"a whole number from 0 to {MAX_MILLISECONDS}"


def _check_flag(value: str) -> str | None:
    return None if value in ("0", "1") else "0 or 1"


def _check_address(value: str) -> str | None:
    try:
        ipaddress.ip_address(value)
    except ValueError:
        return None if value == "localhost" else "an IP address, or localhost"
    return None


def _check_url(value: str) -> str | None:
    allowed = "http://host[:port] or https://host[:port], without user, path or query"
    try:
        url = urlsplit(value)
        port = url.port
    except ValueError:
        return allowed
    whole = url.scheme in ("http", "https") and url.hostname and url.path in ("", "/") and port != 0
    extra = (
        "@" in url.netloc or "?" in value or "#" in value or not value.isascii() or not value.isprintable()
    )
    name_fits = bool(url.hostname) and (
        ":" in (url.hostname or "") or bool(_HOST_NAME.match(url.hostname or ""))
    )
    return None if whole and name_fits and not extra else allowed


def _check_header(value: str) -> str | None:
    return None if _HEADER_NAME.match(value) else "the name of an HTTP header"


def _check_bearer(value: str) -> str | None:
    fits = value.isascii() and value.isprintable() and " " not in value
    return None if fits else "visible ASCII characters without blanks"


def _check_networks(value: str) -> str | None:
    try:
        parse_networks(value)
    except ValueError:
        return "networks such as 10.0.0.0/8 or 2001:db8::/32, separated by commas"
    return None


def _check_signing_keys(value: str) -> str | None:
    allowed = (
        f"kid:base64url pairs separated by blanks, no kid twice, {MIN_SIGNING_SECRET_BYTES} bytes or more"
    )
    kids: set[str] = set()
    for pair in value.split():
        kid, colon, secret = pair.partition(":")
        if (
            not colon
            or not _KEY_ID.match(kid)
            or kid in kids
            or _decoded_bytes(secret) < MIN_SIGNING_SECRET_BYTES
        ):
            return allowed
        kids.add(kid)
    return None if kids else allowed


def _check_lane_secrets(value: str) -> str | None:
    queues: set[str] = set()
    for pair in value.split():
        queue_id, equals, secret = pair.partition("=")
        is_id = re.fullmatch(r"[a-z0-9-]{1,48}", queue_id)
        if not equals or not is_id or queue_id in queues or len(secret.encode()) < MIN_SIGNING_SECRET_BYTES:
            return f"queue-id=secret pairs separated by blanks, no id twice, {MIN_SIGNING_SECRET_BYTES} bytes or more"
        queues.add(queue_id)
    return None


def _decoded_bytes(secret: str) -> int:
    if not re.fullmatch(r"[A-Za-z0-9_-]+={0,2}", secret):
        return 0
    try:
        return len(base64.urlsafe_b64decode(secret.rstrip("=") + "=" * (-len(secret.rstrip("=")) % 4)))
    except (binascii.Error, ValueError):
        return 0


RULES: dict[str, Callable[[str], str | None]] = {
    "text": lambda value: None,
    "port": _check_port,
    "workers": _check_workers,
    "count": _check_count,
    "milliseconds": _check_milliseconds,
    "flag": _check_flag,
    "address": _check_address,
    "url": _check_url,
    "header": _check_header,
    "bearer": _check_bearer,
    "networks": _check_networks,
    "signing_keys": _check_signing_keys,
    "lane_secrets": _check_lane_secrets,
}
