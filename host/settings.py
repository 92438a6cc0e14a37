"""Every environment variable of the product in one table, and the one loader that reads them.

A name states its unit where it has one. Whoever needs a setting loads it here, so that a wrong value is
refused at the start with the name, the fault and what is allowed, and no secret is ever printed.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from host.setting_rules import RULES, Network, parse_networks


class SettingError(ValueError):
    """A setting is missing or wrong. The text says which, why and what is allowed, never a secret."""

    def __init__(self, name: str, fault: str, allowed: str) -> None:
        super().__init__(f"{name}: {fault}. Allowed: {allowed}.")
        self.name = name


@dataclass(frozen=True)
class Setting:
    """One environment variable.

    `kind` names the rule of `host.setting_rules.RULES` that its value must satisfy; an empty value means the
    default. `min_length` is in characters. The value of a `secret` is never printed.
    """

    name: str
    default: str
    meaning: str
    secret: bool = False
    min_length: int = 0
    kind: str = "text"
    choices: tuple[str, ...] = ()


SETTINGS: tuple[Setting, ...] = (
    Setting(
        "STANCHION_BIND", "127.0.0.1", "Address that every server of this run listens on.", kind="address"
    ),
    Setting(
        "STANCHION_EDGE_PORT",
        "8080",
        "Port of the edge, where visitors arrive; 0 takes a free one.",
        kind="port",
    ),
    Setting("STANCHION_ADMIN_PORT", "8081", "Port of the admin console and its API.", kind="port"),
    Setting("STANCHION_ADMIN_URL", "http://127.0.0.1:8081", "Where `stanchion queues` finds the admin app."),
    Setting("STANCHION_REDIS_PORT", "8082", "Port of the local Redis REST bridge.", kind="port"),
    Setting(
        "STANCHION_ORIGIN_PORT", "8083", "Port of the demo shop, the origin of a local run.", kind="port"
    ),
    Setting(
        "STANCHION_ORIGIN_URL",
        "",
        "The site behind the gate, `http(s)://host[:port]`. Empty: the demo shop.",
        kind="url",
    ),
    Setting(
        "STANCHION_ORIGIN_HOST",
        "visitor",
        "The Host header that the origin gets: the visitor's, or that of STANCHION_ORIGIN_URL.",
        kind="choice",
        choices=("visitor", "origin"),
    ),
    Setting(
        "STANCHION_REDIS_URL",
        "",
        "A Redis behind the local bridge: `redis://…`, cluster nodes separated by commas. Empty: embedded.",
        secret=True,
    ),
    Setting(
        "UPSTASH_REDIS_REST_URL",
        "",
        "Redis over REST, `http(s)://host[:port]`. Empty: the local bridge.",
        kind="url",
    ),
    Setting("UPSTASH_REDIS_REST_TOKEN", "", "Bearer token for Redis over REST.", secret=True, kind="bearer"),
    Setting(
        "STANCHION_REDIS_FLAVOUR",
        "",
        "What answers behind the REST address. Empty: redis on this machine, upstash elsewhere.",
        kind="choice",
        choices=("redis", "upstash"),
    ),
    Setting(
        "STANCHION_REDIS_READONLY_TOKEN",
        "",
        "Token with which the local bridge allows reads only.",
        secret=True,
    ),
    Setting("STANCHION_KV_DIR", ".stanchion/kv", "Folder of the local KV store: configuration and pages."),
    Setting(
        "STANCHION_KV_HASH",
        "",
        "Guest for wasi:http: the hash in Redis that has configuration and pages. Empty: `stanchion:kv`.",
    ),
    Setting(
        "STANCHION_KV_BUCKET",
        "",
        "Guest for wasi:http, built for wasi:keyvalue: the store's name at the host. Empty: the host's default.",
    ),
    Setting(
        "STANCHION_SIGNING_KEYS",
        "",
        "Signing keys as `kid:base64url` pairs separated by blanks, newest first; 32 bytes or more each.",
        secret=True,
        kind="signing_keys",
    ),
    Setting(
        "STANCHION_LANE_SECRETS",
        "",
        "Secrets by which the site vouches for visitors: `queue-id=secret` pairs separated by blanks, 32 bytes or more.",
        secret=True,
        kind="lane_secrets",
    ),
    Setting(
        "STANCHION_ADMIN_TOKEN",
        "",
        "A token of the admin's API with every scope; others are made in the console. Empty: only those.",
        secret=True,
        min_length=16,
    ),
    Setting(
        "STANCHION_ADMIN_PASSWORD_HASH",
        "",
        "Argon2 hash of the password of the owner `admin`, who can always get in. Empty: people of the database only.",
        secret=True,
    ),
    Setting("STANCHION_ADMIN_DIR", ".stanchion/admin", "Folder of the admin app's own files."),
    Setting(
        "STANCHION_ADMIN_DATABASE_URL",
        "",
        "Where the admin app keeps people, versions and its audit log: `sqlite:///file` or `postgresql://…`."
        " Empty: `admin.db` in STANCHION_ADMIN_DIR.",
        secret=True,
    ),
    Setting(
        "STANCHION_ADMIN_OIDC_ISSUER",
        "",
        "An OpenID Connect provider where people sign in to the admin, `https://…`. Empty: names and passwords only.",
    ),
    Setting("STANCHION_ADMIN_OIDC_CLIENT_ID", "", "The admin's client id there; its redirect address is `/oidc/callback`."),
    Setting("STANCHION_ADMIN_OIDC_CLIENT_SECRET", "", "The admin's client secret there.", secret=True),
    Setting("STANCHION_ADMIN_OIDC_NAME", "single sign-on", "What the button to the provider is called."),
    Setting(
        "STANCHION_ADMIN_OIDC_NAME_CLAIM",
        "email",
        "The claim by which people who were created before are found the first time; `email` counts when it is verified.",
    ),
    Setting(
        "STANCHION_ADMIN_OIDC_ROLE_CLAIM",
        "",
        "The claim that gives roles (dots lead into objects). Empty: only people who were created before may come in.",
    ),
    Setting(
        "STANCHION_ADMIN_OIDC_ROLES",
        "",
        "What values of that claim mean, as `value=role` pairs separated by blanks; a role by its own name needs no pair.",
    ),
    Setting("STANCHION_ADMIN_OIDC_SCOPE", "openid email profile", "What the admin asks the provider for."),
    Setting(
        "STANCHION_ADMIN_API_PER_MINUTE",
        "6000",
        "How often each token may ask the admin's API in a minute.",
        kind="count",
    ),
    Setting(
        "STANCHION_LOCAL",
        "0",
        "1: a run on one machine, which makes the secrets that are missing. Never in production.",
        kind="flag",
    ),
    Setting(
        "STANCHION_ON_CONFIG_ERROR",
        "hold",
        "What visitors get when no configuration can be read: held on a page, or passed to the origin.",
        kind="choice",
        choices=("hold", "pass"),
    ),
    Setting(
        "STANCHION_COUNTRY_HEADER", "", "Header in which a trusted proxy states the country.", kind="header"
    ),
    Setting(
        "STANCHION_CLIENT_HEADER",
        "",
        "Guest for wasi:http: the header in which the proxy before it writes the visitor's address, last entry.",
        kind="header",
    ),
    Setting(
        "STANCHION_SCHEME",
        "",
        "Guest for wasi:http: the scheme that visitors use. Empty: what the host saw.",
        kind="choice",
        choices=("http", "https"),
    ),
    Setting(
        "STANCHION_COUNTRY_TRUST_ALL",
        "0",
        "1: believe STANCHION_COUNTRY_HEADER from anyone (for trying it out; never in production).",
        kind="flag",
    ),
    Setting("STANCHION_MMDB", "", "GeoIP database (.mmdb) that gives the country of an address."),
    Setting(
        "STANCHION_TRUSTED_PROXIES",
        "",
        "Networks (CIDR, separated by commas) whose forwarding headers are believed.",
        kind="networks",
    ),
    Setting("STANCHION_WORKERS", "1", "Edge processes on one port.", kind="workers"),
    Setting("STANCHION_COMPONENT", "", "Path of a prebuilt gatekeeper component. Empty: build it."),
    Setting(
        "STANCHION_CACHE_DIR",
        ".cache",
        "Folder for built and compiled components; only its owner may write there.",
    ),
    Setting(
        "STANCHION_SANDBOX_REUSE_MS",
        "0",
        "Fastly: how long a sandbox waits for another request before it ends; 0: one request each.",
        kind="milliseconds",
    ),
    Setting(
        "STANCHION_RATE_COUNTER",
        "",
        "Fastly: name of the edge rate counter that shields Redis from joins. Empty: none.",
    ),
    Setting("STANCHION_FASTLY_PYTHON", "", "Python 3.12 or newer that `make fastly` builds with. Empty: found."),
    Setting("FASTLY_API_TOKEN", "", "Token of Fastly's API, for deploying.", secret=True, kind="bearer"),
    Setting("FASTLY_API_ENDPOINT", "https://api.fastly.com", "Address of Fastly's API.", kind="url"),
    Setting(
        "STANCHION_LOG_REQUESTS",
        "1",
        "1: one log line for each request; 0: only trouble and counts.",
        kind="flag",
    ),
)

_BY_NAME: dict[str, Setting] = {setting.name: setting for setting in SETTINGS}


class Settings:
    """The checked values. Asking for a name that is not in the table is a KeyError: a programming error."""

    def __init__(self, values: Mapping[str, str]) -> None:
        self._values = dict(values)

    def __getitem__(self, name: str) -> str:
        return self._values[name]

    def __repr__(self) -> str:
        return f"Settings({len(self._values)} values)"

    def needed(self, name: str) -> str:
        """A setting that the caller cannot do without. Raises SettingError when it has no value."""
        if not self._values[name]:
            raise SettingError(name, "it is not set", _BY_NAME[name].meaning.rstrip("."))
        return self._values[name]

    def number(self, name: str) -> int:
        """A setting whose rule is a whole number."""
        return int(self._values[name])

    def flag(self, name: str) -> bool:
        """A setting whose rule is 0 or 1."""
        return self._values[name] == "1"

    def networks(self, name: str) -> tuple[Network, ...]:
        """A setting whose rule is a list of networks."""
        return parse_networks(self._values[name])

    @property
    def origin_url(self) -> str:
        """STANCHION_ORIGIN_URL without a trailing slash, or the demo shop of this run."""
        return self["STANCHION_ORIGIN_URL"].rstrip("/") or self._local("STANCHION_ORIGIN_PORT")

    @property
    def redis_rest_url(self) -> str:
        """UPSTASH_REDIS_REST_URL without a trailing slash, or the bridge of this run."""
        return self["UPSTASH_REDIS_REST_URL"].rstrip("/") or self._local("STANCHION_REDIS_PORT")

    def _local(self, port_name: str) -> str:
        # 0.0.0.0 and :: are addresses to listen on; to connect, the loopback address of the family is meant.
        bind = {"0.0.0.0": "127.0.0.1", "::": "::1"}.get(self["STANCHION_BIND"], self["STANCHION_BIND"])
        return f"http://{f'[{bind}]' if ':' in bind else bind}:{self[port_name]}"


def load(environ: Mapping[str, str], required: Iterable[str] = ()) -> Settings:
    """Reads every setting of the table from `environ`; an empty value means the default.

    Raises SettingError for the first value that breaks its rule, and for a name of `required` without one.
    """
    values = {setting.name: _read(setting, environ.get(setting.name, "").strip()) for setting in SETTINGS}
    settings = Settings(values)
    for name in required:
        settings.needed(name)
    return settings


def _read(setting: Setting, text: str) -> str:
    value = text or setting.default
    if not value:
        return value
    shown = "the value (not shown, it is a secret)" if setting.secret else repr(value)
    if len(value) < setting.min_length:
        raise SettingError(setting.name, f"{shown} is too short", f"{setting.min_length} characters or more")
    if setting.choices and value not in setting.choices:
        raise SettingError(setting.name, f"{shown} is unknown", " or ".join(setting.choices))
    allowed = None if setting.choices else RULES[setting.kind](value)
    if allowed is not None:
        raise SettingError(setting.name, f"{shown} does not fit", allowed)
    return value


def settings_reference() -> str:
    """The table as Markdown, for the documentation."""
    lines = ["| variable | default | meaning |", "|---|---|---|"]
    for setting in SETTINGS:
        default = f"`{setting.default}`" if setting.default else "none"
        notes = [f"At least {setting.min_length} characters." if setting.min_length else ""]
        notes.append(
            f"One of: {', '.join(f'`{choice}`' for choice in setting.choices)}." if setting.choices else ""
        )
        notes.append("A secret." if setting.secret else "")
        meaning = " ".join(part for part in (setting.meaning, *notes) if part)
        lines.append(f"| `{setting.name}` | {default} | {meaning.replace('|', chr(92) + '|')} |")
    return "\n".join(lines) + "\n"
