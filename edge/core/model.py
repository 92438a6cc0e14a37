"""A queue's configuration: every key with its default, unit and meaning, in one table.

The table makes the check, the JSON Schema and the reference page; nothing else knows the keys.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal

from edge.core.fields import Bool, Choice, Field, Int, ListOf, Obj, Text

Elsewhere = Literal["enter", "refuse", "pass"]

ASSET_EXTENSIONS = (
    "avif", "bmp", "css", "eot", "gif", "ico", "jpeg", "jpg", "js", "map", "mjs", "mp3", "mp4", "otf", "png", "svg", "ttf",
    "wasm", "webm", "webmanifest", "webp", "woff", "woff2",
)  # fmt: skip

_METHODS = ("GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS")
_PATH = Text(r"/[^*?#\s\x00-\x1f]*\*?", "a path that starts with / ; one * at its end stands for everything below", 1024)
_HOST = Text(r"\*|(\*\.)?[a-z0-9]([a-z0-9.-]*[a-z0-9])?", "a host in lower case without port, *.example.org, or * for any", 253)
_COUNTRY = Text(r"[A-Z]{2}", "two capital letters (ISO 3166-1)", 2)
_EXTENSION = Text(r"[a-z0-9]+", "an extension in lower case without its dot", 16)
_DAY_S = 86_400


@dataclass(frozen=True)
class Route:
    """Which requests a queue guards."""

    host: str
    path: str
    methods: tuple[str, ...]
    ignore_case: bool


ROUTE = Obj(
    (
        Field("host", _HOST, "host that the rule is for", "*"),
        Field("path", _PATH, "path that the rule is for; /a/* also holds /a"),
        Field("methods", ListOf(Choice(_METHODS), 0, 7), "methods that the rule is for; empty: all", ()),
        Field("ignore_case", Bool(), "whether /Sale is held by a rule for /sale", False),
    ),
    lambda v: Route(v["host"], v["path"], v["methods"], v["ignore_case"]),
)

_PER_MINUTE = Int(0, 1_000_000, optional=True)
_MANY = Int(1, 100_000_000, optional=True)

QUEUE_FIELDS: tuple[Field, ...] = (
    Field("id", Text(r"[a-z0-9-]+", "only a-z, 0-9 and -", 48), "name in cookies, addresses and keys; never changes"),
    Field("name", Text(r"[^\x00-\x1f]+", "a line of text", 120), "what visitors read: You are in line for ..."),
    Field("config_version", Int(1, 2**53 - 1), "number of this configuration of the queue; a newer one is higher", 1),
    Field("routes", ListOf(ROUTE, 1, 100), "requests that the queue guards; the most specific rule of all queues wins"),
    Field("countries", ListOf(_COUNTRY, 1, 250, optional=True), "countries whose visitors enter here; null: all", None),
    Field("unknown_country", Choice(("enter", "refuse", "pass")),
          "a visitor whose country is not known, when the queue names countries", "refuse"),
    Field("other_countries", Choice(("enter", "refuse", "pass")),
          "a visitor from a country that no queue of the same rule names", "refuse"),
    Field("page", Text(r"[a-z0-9-]+", "only a-z, 0-9 and -", 48), "which published pages to show", "default"),
    Field("language", Text(r"[A-Za-z]{2,3}(-[A-Za-z0-9]{2,8})*", "a language tag (BCP 47)", 35), "language of the pages", "en"),
    Field("admit_per_minute", _PER_MINUTE, "admissions per minute; null: no limit", None, "admissions per minute"),
    Field("burst", Int(1, 1_000_000, optional=True),
          "admissions that idle time may save up; null: a sixth of the rate, at least 1", None, "admissions"),
    Field("max_active", _MANY, "people inside at one time, called ones counted; null: no limit", None, "people"),
    Field("inventory", _MANY, "units on sale; passes in use and sold units never exceed it; null: no limit", None, "units"),
    Field("manual", Bool(), "call people only in batches that an operator asks for", False),
    Field("always_queue", Bool(), "everyone passes through the line, also when nobody waits", False),
    Field("claim_within_s", Int(10, _DAY_S), "time that a called visitor has to come in", 120, "s"),
    Field("idle_s", Int(30, _DAY_S), "a pass that makes no request for this long ends", 300, "s"),
    Field("renew_every_s", Int(10, _DAY_S), "a pass in use is renewed at most this often", 60, "s"),
    Field("poll_s", Int(1, 60), "how often a page near the head asks; further back it asks less often", 5, "s"),
    Field("settle_s", Int(1, 3600), "time that people near the head have to show life before they are passed over", 75, "s"),
    Field("presence_grace_s", Int(2, _DAY_S), "silence near the head after which a visitor counts as absent", 150, "s"),
    Field("candidate_hold_s", Int(1, 60), "time that newcomers wait for visitors who were just handed a cookie", 5, "s"),
    Field("places_per_network_per_minute", Int(1, 1_000_000), "new places for one client network on one node", 600,
          "places per minute"),
    Field("held_status", Choice((200, 202, 429, 503)), "HTTP status of a held answer", 503),
    Field("same_site", Choice(("lax", "none", "partitioned")), "SameSite of the cookies; the last two need https", "lax"),
    Field("cookie_domain", Text(r"[a-z0-9]([a-z0-9.-]*[a-z0-9])?", "a domain in lower case", 253, optional=True),
          "domain of the cookies, when hosts share them; null: this host only", None),
    Field("bypass", ListOf(_PATH, 0, 100), "paths that are never held", ()),
    Field("return_paths", ListOf(_PATH, 0, 100), "paths at which a cross-site POST comes back, from a payment say", ()),
    Field("asset_extensions", ListOf(_EXTENSION, 0, 100), "extensions that are never held", ASSET_EXTENSIONS),
    Field("on_store_error", Choice(("hold", "admit")), "without a connection to Redis: keep the page, or let some in", "hold"),
    Field("store_error_admit_per_minute", Int(1, 1_000_000, optional=True),
          "how many one node lets in then; needed with admit", None, "admissions per minute"),
)  # fmt: skip


@dataclass(frozen=True)
class Queue:
    """One configured line. Attributes are the keys of QUEUE_FIELDS."""

    id: str
    name: str
    config_version: int
    routes: tuple[Route, ...]
    countries: tuple[str, ...] | None
    unknown_country: Elsewhere
    other_countries: Elsewhere
    page: str
    language: str
    admit_per_minute: int | None
    burst: int | None
    max_active: int | None
    inventory: int | None
    manual: bool
    always_queue: bool
    claim_within_s: int
    idle_s: int
    renew_every_s: int
    poll_s: int
    settle_s: int
    presence_grace_s: int
    candidate_hold_s: int
    places_per_network_per_minute: int
    held_status: int
    same_site: Literal["lax", "none", "partitioned"]
    cookie_domain: str | None
    bypass: tuple[str, ...]
    return_paths: tuple[str, ...]
    asset_extensions: tuple[str, ...]
    on_store_error: Literal["hold", "admit"]
    store_error_admit_per_minute: int | None

    @property
    def scope(self) -> str:
        """The hash tag of all its keys in Redis."""
        return self.id


def _build_queue(values: Any) -> Queue:
    return Queue(**values)


QUEUE = Obj(QUEUE_FIELDS, _build_queue)
QUEUE_DEFAULTS: dict[str, Any] = {field.name: field.default for field in QUEUE_FIELDS if not field.required}
