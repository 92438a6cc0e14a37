"""What the admin app reads from its environment, checked at the start.

The names are those of the whole product; this room reads only what it uses, because it may run without the others.
"""

from __future__ import annotations

import ipaddress
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from urllib.parse import urlsplit

from admin.access.permissions import ROLES
from edge.core.errors import ConfigError
from edge.core.keyring import Keyring
from edge.core.scripts import Flavour

TOKEN_MIN_CHARACTERS = 16
API_PER_MINUTE = 6_000
_LOOPBACK = ("localhost", "127.0.0.1", "::1")


class SettingsError(ValueError):
    """A setting is missing or wrong. The text names it and says what is allowed; it never shows a secret."""


@dataclass(frozen=True)
class Oidc:
    """A provider where people may sign in.

    `name`: of the button; `name_claim`: by which people who were created before are found (`email` counts when it is verified);
    `role_claim`: whose values are roles, or names that `roles` translates. Without it only people who were created may come in.
    """

    issuer: str
    client_id: str
    client_secret: str = field(repr=False)
    name: str = "single sign-on"
    name_claim: str = "email"
    role_claim: str = ""
    roles: Mapping[str, str] = field(default_factory=dict)
    scope: str = "openid email profile"


@dataclass(frozen=True)
class Settings:
    """The checked values. Secrets are kept out of `repr`."""

    bind: str
    port: int
    redis_url: str
    redis_token: str = field(repr=False)
    redis_flavour: Flavour
    kv_dir: Path
    admin_dir: Path
    api_token: str = field(default="", repr=False)
    signing_keys: Keyring | None = field(default=None, repr=False)
    password_hash: str = field(default="", repr=False)
    trusted_proxies: tuple[str, ...] = ()
    database_url: str = field(default="", repr=False)
    api_per_minute: int = API_PER_MINUTE
    oidc: Oidc | None = None
    local: bool = False

    @property
    def database(self) -> str:
        """The address of the app's own database: as set, or a file in `admin_dir`."""
        return self.database_url or f"sqlite:///{self.admin_dir / 'admin.db'}"


def _port(environ: Mapping[str, str], name: str, default: str) -> int:
    text = environ.get(name, "").strip() or default
    if not (text.isascii() and text.isdigit() and int(text) <= 65_535):
        raise SettingsError(f"{name}: {text!r} is not a port. Allowed: a whole number from 0 to 65535.")
    return int(text)


def _whole(environ: Mapping[str, str], name: str, default: int, least: int, most: int) -> int:
    text = environ.get(name, "").strip() or str(default)
    if not (text.isascii() and text.isdigit() and len(text) <= 12 and least <= int(text) <= most):
        raise SettingsError(f"{name}: {text[:40]!r} does not fit. Allowed: a whole number from {least} to {most}.")
    return int(text)


def _bind(environ: Mapping[str, str]) -> str:
    text = environ.get("STANCHION_BIND", "").strip() or "127.0.0.1"
    try:
        return str(ipaddress.ip_address("127.0.0.1" if text == "localhost" else text))
    except ValueError:
        raise SettingsError(f"STANCHION_BIND: {text!r} is not an address. Allowed: an IP address, or localhost.") from None


def _redis_url(environ: Mapping[str, str]) -> str:
    bridge = f"http://127.0.0.1:{_port(environ, 'STANCHION_REDIS_PORT', '8082')}"
    text = environ.get("UPSTASH_REDIS_REST_URL", "").strip().rstrip("/") or bridge
    try:
        url = urlsplit(text)
        fits = url.scheme in ("http", "https") and bool(url.hostname) and url.port != 0 and not url.query and not url.fragment
    except ValueError:
        fits = False
    if not fits:
        raise SettingsError("UPSTASH_REDIS_REST_URL: the value does not fit. Allowed: http(s)://host[:port].")
    return text


def _redis_token(environ: Mapping[str, str]) -> str:
    token = environ.get("UPSTASH_REDIS_REST_TOKEN", "").strip()
    if not token:
        raise SettingsError("UPSTASH_REDIS_REST_TOKEN: it is not set. It is the bearer token of Redis over REST.")
    if not token.isascii() or not token.isprintable() or " " in token:
        raise SettingsError("UPSTASH_REDIS_REST_TOKEN: the value does not fit. Allowed: visible ASCII characters without blanks.")
    return token


def _flavour(environ: Mapping[str, str], redis_url: str) -> Flavour:
    text = environ.get("STANCHION_REDIS_FLAVOUR", "").strip()
    if text not in ("", "redis", "upstash"):
        raise SettingsError(f"STANCHION_REDIS_FLAVOUR: {text!r} is unknown. Allowed: redis or upstash.")
    if text == "redis" or (not text and urlsplit(redis_url).hostname in _LOOPBACK):
        return "redis"
    return "upstash"


def _networks(environ: Mapping[str, str]) -> tuple[str, ...]:
    parts = [part.strip() for part in environ.get("STANCHION_TRUSTED_PROXIES", "").split(",") if part.strip()]
    try:
        return tuple(str(ipaddress.ip_network(part, strict=False)) for part in parts)
    except ValueError as error:
        raise SettingsError(f"STANCHION_TRUSTED_PROXIES: {error}. Allowed: networks (CIDR) separated by commas.") from None


def _api_token(environ: Mapping[str, str]) -> str:
    token = environ.get("STANCHION_ADMIN_TOKEN", "").strip()
    if token and (len(token) < TOKEN_MIN_CHARACTERS or not token.isascii() or not token.isprintable()):
        raise SettingsError(
            f"STANCHION_ADMIN_TOKEN: the value does not fit. Allowed: {TOKEN_MIN_CHARACTERS} visible ASCII characters or more."
        )
    return token


def _signing_keys(environ: Mapping[str, str]) -> Keyring | None:
    text = environ.get("STANCHION_SIGNING_KEYS", "").strip()
    try:
        return Keyring.parse(text) if text else None
    except ConfigError as error:
        raise SettingsError(f"STANCHION_SIGNING_KEYS: {error}. Give the admin the same keys as the edges.") from None


_OIDC_NAMES = (
    "STANCHION_ADMIN_OIDC_ISSUER", "STANCHION_ADMIN_OIDC_CLIENT_ID", "STANCHION_ADMIN_OIDC_CLIENT_SECRET",
    "STANCHION_ADMIN_OIDC_NAME", "STANCHION_ADMIN_OIDC_NAME_CLAIM", "STANCHION_ADMIN_OIDC_ROLE_CLAIM",
    "STANCHION_ADMIN_OIDC_ROLES", "STANCHION_ADMIN_OIDC_SCOPE",
)  # fmt: skip


def _oidc(environ: Mapping[str, str]) -> Oidc | None:
    given = {name.rpartition("OIDC_")[2]: environ.get(name, "").strip() for name in _OIDC_NAMES}
    if not given["ISSUER"]:
        return None
    for name in ("CLIENT_ID", "CLIENT_SECRET"):
        if not given[name]:
            raise SettingsError(f"STANCHION_ADMIN_OIDC_{name}: it is not set, and STANCHION_ADMIN_OIDC_ISSUER is.")
    url = urlsplit(given["ISSUER"])
    if not url.hostname or not (url.scheme == "https" or (url.scheme == "http" and url.hostname in _LOOPBACK)):
        raise SettingsError("STANCHION_ADMIN_OIDC_ISSUER: the value does not fit. Allowed: https://host[/path].")
    pairs = [pair.rpartition("=") for pair in given["ROLES"].split()]
    for value, _, role in pairs:
        if not value or role not in ROLES:
            allowed = f"pairs such as group=operator, separated by blanks; roles are {', '.join(ROLES)}"
            raise SettingsError(f"STANCHION_ADMIN_OIDC_ROLES: {value[:40]!r} does not fit. Allowed: {allowed}.")
    more = {name.lower(): given[name] for name in ("NAME", "NAME_CLAIM", "ROLE_CLAIM", "SCOPE") if given[name]}
    return Oidc(
        given["ISSUER"], given["CLIENT_ID"], given["CLIENT_SECRET"], roles={value: role for value, _, role in pairs}, **more
    )


def load(environ: Mapping[str, str]) -> Settings:
    """Reads the settings; an empty value means the default. Raises SettingsError for the first that breaks its rule."""
    redis_url = _redis_url(environ)
    return Settings(
        bind=_bind(environ),
        port=_port(environ, "STANCHION_ADMIN_PORT", "8081"),
        redis_url=redis_url,
        redis_token=_redis_token(environ),
        redis_flavour=_flavour(environ, redis_url),
        kv_dir=Path(environ.get("STANCHION_KV_DIR", "").strip() or ".stanchion/kv"),
        admin_dir=Path(environ.get("STANCHION_ADMIN_DIR", "").strip() or ".stanchion/admin"),
        api_token=_api_token(environ),
        signing_keys=_signing_keys(environ),
        password_hash=environ.get("STANCHION_ADMIN_PASSWORD_HASH", "").strip(),
        trusted_proxies=_networks(environ),
        database_url=environ.get("STANCHION_ADMIN_DATABASE_URL", "").strip(),
        api_per_minute=_whole(environ, "STANCHION_ADMIN_API_PER_MINUTE", API_PER_MINUTE, 1, 1_000_000),
        oidc=_oidc(environ),
        local=environ.get("STANCHION_LOCAL", "").strip() == "1",
    )
