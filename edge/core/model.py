"""A queue's configuration: every key with its default, unit and meaning, in one table.

The table makes the check, the JSON Schema and the reference page; nothing else knows the keys.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal

from edge.core.fields import Bool, Choice, Field, Int, ListOf, Obj, Text
from edge.core.moments import Moment

Elsewhere = Literal["enter", "refuse", "pass"]
LINES_AT_MOST = 16  # of one scope

ASSET_EXTENSIONS = (
    "avif", "bmp", "css", "eot", "gif", "ico", "jpeg", "jpg", "js", "map", "mjs", "mp3", "mp4", "otf", "png", "svg", "ttf",
    "wasm", "webm", "webmanifest", "webp", "woff", "woff2",
)  # fmt: skip

_METHODS = ("GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS")
_PATH = Text(r"/[^*?#\s\x00-\x1f]*\*?", "a path that starts with / ; one * at its end stands for everything below", 1024)
_HOST = Text(r"\*|(\*\.)?[a-z0-9]([a-z0-9.-]*[a-z0-9])?", "a host in lower case without port, *.example.org, or * for any", 253)
_COUNTRY = Text(r"(?!XX|ZZ)[A-Z]{2}", "two capital letters (ISO 3166-1); XX and ZZ are no country, see unknown_country", 2)
_LINE = r"[^\x00-\x1f]*[^\x00-\x1f\s][^\x00-\x1f]*"
_LINE_SAYS = "a line of text that is not blank"
_ORIGIN = Text(
    r"[a-z][a-z0-9+.-]*://([a-z0-9]([a-z0-9.-]*[a-z0-9])?|\[[0-9a-f:.]+\])(:[0-9]{1,5})?",
    "an origin as browsers send it: scheme://host in lower case, with a port only if it is not the scheme's own",
    253,
)
_EXTENSION = Text(r"[a-z0-9]+", "an extension in lower case without its dot", 16)
_RULE = r"(header|cookie):[A-Za-z0-9!#$%&'+.^_|~-]+"
_RULE_SAYS = "header:NAME or cookie:NAME"
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


@dataclass(frozen=True)
class Lane:
    """A priority class inside a queue. `rule`: "header:name" or "cookie:name" where the site's word for a visitor stands."""

    name: str
    share: int
    invite: bool
    rule: str | None


LANE = Obj(
    (
        Field("name", Text(r"[a-z0-9-]+", "only a-z, 0-9 and -", 32), "name of the lane in links and reports"),
        Field("share", Int(1, 1000), "its part of the calls while others wait too; what it does not use goes to them", 1),
        Field("invite", Bool(), "whether a signed invitation link leads here", False),
        Field("rule", Text(_RULE, _RULE_SAYS, 80, optional=True),
              "where the site says who may come here: a JWT (HS256) signed with the key of the secret lane:<queue id>", None),
    ),
    lambda v: Lane(v["name"], v["share"], v["invite"], v["rule"]),
)  # fmt: skip

_PER_MINUTE = Int(0, 1_000_000, optional=True)
_MANY = Int(1, 100_000_000, optional=True)

QUEUE_FIELDS: tuple[Field, ...] = (
    Field("id", Text(r"[a-z0-9-]+", "only a-z, 0-9 and -", 48), "name in cookies, addresses and keys; never changes"),
    Field("name", Text(_LINE, _LINE_SAYS, 120), "what visitors read: You are in line for ..."),
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
    Field("start_queueing_above", Int(1, 1_000_000, optional=True),
          "up to this many new visits in a minute nobody is held by the rate or by always_queue; null: always as they say", None,
          "new visits per minute"),
    Field("prequeue_at", Moment(), "from then on arrivals get a number, and wait for opens_at; null: no pre-queue", None),
    Field("opens_at", Moment(), "nobody is called before; null: open from the start", None),
    Field("closes_at", Moment(), "nobody gets a place or is called from then on; null: no end", None),
    Field("prequeue_order", Choice(("draw", "arrival"), optional=True),
          "how the pre-queue is put in order when it opens; null: draw, if there is a prequeue_at", None),
    Field("spread_s", Int(0, 600),
          "pages of a pre-queue ask again spread over this time after opening; the first turns last longer by it", 30, "s"),
    Field("draw_beacon", Text(_LINE, _LINE_SAYS, 200, optional=True),
          "a later public randomness round that is mixed into the draw, named before opening; null: none", None),
    Field("lanes", ListOf(LANE, 0, LINES_AT_MOST), "priority classes; the first is everybody's; empty: one line for all", ()),
    Field("late_claim", Choice(("head", "back", "refused")),
          "whoever missed a turn and comes back in time: called next, a new place at the end, or nothing", "head"),
    Field("late_claim_within_s", Int(10, _DAY_S), "how long after a missed turn late_claim holds", 900, "s"),
    Field("late_share_percent", Int(1, 100), "the most of the calls that may go to late claims while others wait", 50, "percent"),
    Field("checkout_s", Int(10, _DAY_S, optional=True),
          "time that the site's command checkout gives a visit, and checkout; extend once more; null: no such timer", None, "s"),
    Field("visit_max_s", Int(30, 7 * _DAY_S, optional=True),
          "a visit ends after this long, however busy; null: no such end", None, "s"),
    Field("claim_within_s", Int(10, _DAY_S), "time that a called visitor has to come in", 120, "s"),
    Field("idle_s", Int(30, _DAY_S), "a pass that makes no request for this long ends", 300, "s"),
    Field("renew_every_s", Int(10, _DAY_S), "a pass in use is renewed at most this often", 60, "s"),
    Field("poll_s", Int(1, 60), "how often a page near the head asks; further back it asks less often", 5, "s"),
    Field("settle_s", Int(1, 3600), "time that people near the head have to show life before they are passed over", 75, "s"),
    Field("presence_grace_s", Int(2, _DAY_S), "silence near the head after which a visitor counts as absent", 150, "s"),
    Field("candidate_hold_s", Int(1, 60), "time that newcomers wait for visitors who were just handed a cookie", 5, "s"),
    Field("places_per_network_per_minute", Int(1, 1_000_000), "new places for one client network on one node", 600,
          "places per minute"),
    Field("max_networks", Int(1, 1000, optional=True),
          "a pass seen from more client networks than this between two renewals is not renewed; null: not counted", None,
          "client networks"),
    Field("visitor_key", Text(_RULE, _RULE_SAYS, 80, optional=True),
          "where the site says who the visitor is: a JWT (HS256) signed with the key of the secret lane:<queue id>; one place "
          "for each of its sub, on however many devices; null: not asked", None),
    Field("visitor_key_required", Bool(), "whether nobody gets a place without that word; else one comes as anybody", False),
    Field("one_visit_per_key", Bool(), "whether a key that has been inside gets no other place; else one at the end", False),
    Field("sign_in_url", Text(r"(https?://[^\s/?#\\\x00-\x1f]+)?/([^\s/\\\x00-\x1f][^\s\\\x00-\x1f]*)?",
                              "a path of this site, or an address with https:// or http://", 512, optional=True),
          "where the page sends those who have to sign in; null: nowhere", None),
    Field("proof_of_work_bits", Int(8, 18, optional=True),
          "a candidate's machine computes about 2 to this power SHA-256 hashes before it gets a place; null: none", None, "bits"),
    Field("events", Bool(), "write what happens to each visit to the event stream of the queue", False),
    Field("held_status", Choice((200, 202, 429, 503)), "HTTP status of a held answer", 503),
    Field("same_site", Choice(("lax", "none", "partitioned")), "SameSite of the cookies; the last two need https", "lax"),
    Field("cookie_domain", Text(r"[a-z0-9]([a-z0-9.-]*[a-z0-9])?", "a domain in lower case", 253, optional=True),
          "domain of the cookies, when hosts share them; null: this host only", None),
    Field("bypass", ListOf(_PATH, 0, 100), "paths that are never held", ()),
    Field("return_paths", ListOf(_PATH, 0, 100), "paths at which a cross-site POST comes back, from a payment say", ()),
    Field("allowed_origins", ListOf(_ORIGIN, 0, 100), "origins whose scripts may read held answers and the status", ()),
    Field("crawlers", Choice(("as_people", "hold", "pass")),
          "search crawlers, verified by their networks: as anybody, 503 without a place while people queue, or let through",
          "as_people"),
    Field("asset_extensions", ListOf(_EXTENSION, 0, 100), "extensions that are never held", ASSET_EXTENSIONS),
    Field("on_store_error", Choice(("hold", "admit")), "without a connection to Redis: keep the page, or let some in", "hold"),
    Field("store_error_admit_per_minute", Int(1, 1_000_000, optional=True),
          "how many one node lets in then; needed with admit", None, "admissions per minute"),
)  # fmt: skip


@dataclass(frozen=True)
class Queue:
    """One configured line. Attributes are the keys of QUEUE_FIELDS; moments of the schedule are `*_ms`, Unix milliseconds.

    In a group the shared keys have the group's values: this is the queue as it works. `line`: its first line in its scope.
    """

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
    start_queueing_above: int | None
    prequeue_at_ms: int | None
    opens_at_ms: int | None
    closes_at_ms: int | None
    prequeue_order: Literal["draw", "arrival"] | None
    spread_s: int
    draw_beacon: str | None
    lanes: tuple[Lane, ...]
    late_claim: Literal["head", "back", "refused"]
    late_claim_within_s: int
    late_share_percent: int
    checkout_s: int | None
    visit_max_s: int | None
    claim_within_s: int
    idle_s: int
    renew_every_s: int
    poll_s: int
    settle_s: int
    presence_grace_s: int
    candidate_hold_s: int
    places_per_network_per_minute: int
    max_networks: int | None
    visitor_key: str | None
    visitor_key_required: bool
    one_visit_per_key: bool
    sign_in_url: str | None
    proof_of_work_bits: int | None
    events: bool
    held_status: int
    same_site: Literal["lax", "none", "partitioned"]
    cookie_domain: str | None
    bypass: tuple[str, ...]
    return_paths: tuple[str, ...]
    allowed_origins: tuple[str, ...]
    crawlers: Literal["as_people", "hold", "pass"]
    asset_extensions: tuple[str, ...]
    on_store_error: Literal["hold", "admit"]
    store_error_admit_per_minute: int | None
    group: str = ""
    line: int = 0
    group_shares: tuple[int, ...] = ()
    scope: str = ""  # the group, or the queue: the hash tag of all its keys in Redis

    def __post_init__(self) -> None:
        object.__setattr__(self, "scope", self.group or self.id)

    def __hash__(self) -> int:
        return hash(self.id)  # that of sixty fields costs a fresh sandbox more than the rule that needs it

    @property
    def line_count(self) -> int:
        """How many lines it has in its scope: one for each lane, or one."""
        return len(self.lanes) or 1

    @property
    def line_shares(self) -> tuple[int, ...]:
        """The share of each line of its scope, in order; the lines of a group's other queues too."""
        return self.group_shares or tuple(lane.share for lane in self.lanes) or (1,)

    def lane_of(self, line: int) -> str:
        """The name of the lane on a line of the scope; empty without lanes, or for a line of another queue."""
        index = line - self.line
        return self.lanes[index].name if 0 <= index < len(self.lanes) else ""


def attribute(field: Field) -> str:
    """What a key of the configuration is called on a Queue."""
    return f"{field.name}_ms" if isinstance(field.kind, Moment) else field.name


ATTRIBUTES: dict[str, str] = {field.name: attribute(field) for field in QUEUE_FIELDS}


def _build_queue(values: Any) -> Queue:
    return Queue(**{ATTRIBUTES[name]: value for name, value in fill_in(dict(values)).items()})


def fill_in(values: dict[str, Any]) -> dict[str, Any]:
    """Fills in what a default leaves to another key: a pre-queue is drawn unless its order is given."""
    if values["prequeue_order"] is None and values["prequeue_at"] is not None:
        values["prequeue_order"] = "draw"
    return values


QUEUE = Obj(QUEUE_FIELDS, _build_queue)
#: What a key that a configuration leaves out means.
QUEUE_DEFAULTS: dict[str, Any] = {field.name: field.default for field in QUEUE_FIELDS if not field.required}
for _name, _value in QUEUE_DEFAULTS.items():
    # A queue that is read in a fresh sandbox has only what its configuration says (edge/core/sealed.py).
    setattr(Queue, ATTRIBUTES[_name], _value)
