"""The values that a decision is made of: the request, batches of commands, and how it ends. No I/O, no clock."""

from __future__ import annotations

from collections.abc import Callable, Generator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, TypeAlias

from edge.core.calls import Call, pipeline_body
from edge.core.config import Config
from edge.core.cookies import CookieReader
from edge.core.crawlers import Crawlers
from edge.core.keyring import Keyring
from edge.core.node import Granted, NodeCounters
from edge.core.pages import Page
from edge.core.routing import Router
from edge.core.scripts import Flavour
from edge.core.snapshot import Snapshot
from edge.core.tokens import OriginPasses, TokenReader


@dataclass(slots=True)
class Request:
    """One request. `target` as it was sent; `headers` by lower-case name; `random`: 64 hex digits, fresh for each request."""

    method: str
    target: str
    scheme: str
    host: str
    client: str
    country: str
    now_ms: int
    random: str
    request_id: str
    headers: Mapping[str, str] = field(default_factory=dict)

    def header(self, name: str) -> str:
        """The value, or an empty text."""
        return self.headers.get(name, "")


@dataclass(slots=True)
class Batch:
    """Calls to send together. `name` is unique within one decision; `whole`: send the scripts' text, not their names.

    `is_shared`: the answer may serve other requests until it is `max_age_ms` old; the name then says what it is.
    """

    name: str
    calls: Sequence[Call]
    whole: bool = False
    is_shared: bool = False
    max_age_ms: int = 0

    def commands(self, flavour: Flavour) -> list[list[str]]:
        """What goes over the wire."""
        return [call.eval(flavour) if self.whole else call.evalsha(flavour) for call in self.calls]

    def body(self, flavour: Flavour) -> str:
        """The same as the body of POST /pipeline."""
        return pipeline_body(self.calls, flavour, whole=self.whole)


@dataclass(slots=True)
class Reply:
    """What became of a batch: results, each a value or an error text, or the reason why there are none."""

    results: Sequence[Mapping[str, Any]] = ()
    age_ms: int = 0
    failed: str = ""  # "", "away", "slow" or "busy"
    away_ms: int = 0
    stale: Reply | None = None


@dataclass(slots=True)
class Forward:
    """The request goes to the origin. `cookie`: the Cookie header without ours, None if it is unchanged.

    `why` names what decided: the rule, and the token or the state of the queue.
    """

    why: str
    queue_id: str = ""
    cookie: str | None = None
    origin_pass: str = ""
    context: str = ""


@dataclass(slots=True)
class Respond:
    """The gate answers itself. Headers in order; a name may repeat. `body`: text, or a page that is UTF-8 already."""

    status: int
    headers: tuple[tuple[str, str], ...]
    body: str | bytes
    why: str

    @property
    def text(self) -> str:
        """The body as text."""
        return self.body if isinstance(self.body, str) else str(self.body, "utf-8")

    @property
    def content(self) -> bytes:
        """The body as it is sent."""
        return self.body if isinstance(self.body, bytes) else self.body.encode("utf-8", "replace")


Decision: TypeAlias = Forward | Respond
# A decision yields batches, is sent replies, and returns how it ends.
Deciding: TypeAlias = Generator[Batch, Reply, Decision]


class Snapshots:
    """The last snapshot of each scope that this node has read, with the time (Unix ms, node clock) for which it held.

    As many as there are scopes in the configuration.
    """

    # A newer snapshot than the request is as good as one of its very moment; more than this means that the clock was set back.
    _NEWER_AT_MOST_MS = 1000

    def __init__(self) -> None:
        self._known: dict[str, tuple[int, Snapshot]] = {}

    def fresh(self, scope: str, now_ms: int, max_age_ms: int) -> tuple[Snapshot, int] | None:
        """The snapshot and its age, if it is not older than `max_age_ms`."""
        known = self._known.get(scope)
        if known is None:
            return None
        age_ms = now_ms - known[0]
        if age_ms > max_age_ms or age_ms < -self._NEWER_AT_MOST_MS:
            return None
        return known[1], max(0, age_ms)

    def last(self, scope: str, epoch: str) -> Snapshot | None:
        """The last snapshot, however old, if it is of this epoch."""
        known = self._known.get(scope)
        return known[1] if known is not None and known[1].epoch == epoch else None

    def has(self, scope: str) -> bool:
        """Whether this node has read any snapshot of the scope yet, and so knows its time."""
        return scope in self._known

    def offset_ms(self, scope: str) -> int:
        """What to add to this node's clock to have the one of the scripts, which is a scope's own."""
        known = self._known.get(scope)
        return known[1].clock_ms - known[0] if known is not None else 0

    def keep(self, scope: str, taken_ms: int, snapshot: Snapshot) -> None:
        """Remembers a snapshot, unless a newer one came first."""
        known = self._known.get(scope)
        if known is None or not 0 < known[0] - taken_ms <= self._NEWER_AT_MOST_MS:
            self._known[scope] = (taken_ms, snapshot)


def _none_offered(page: str) -> tuple[str, ...]:
    return ()


@dataclass
class Context:
    """What a node knows: the configuration with its rules, keys, pages, counters. Made once, used by many requests."""

    config: Config
    router: Router
    ring: Keyring
    tokens: TokenReader
    cookies: CookieReader
    node: NodeCounters
    page: Callable[[str, str, str], Page]
    snapshots: Snapshots
    origin_passes: OriginPasses
    flavour: Flavour = "redis"
    granted: Granted = field(default_factory=Granted)
    #: Languages that a brand's pages are published in; none where that is not known.
    offered: Callable[[str], Sequence[str]] = _none_offered
    crawlers: Callable[[], Crawlers] = Crawlers
    secret: Callable[[str], str | None] = lambda name: None
    #: Whether each sandbox of this host takes snapshots for itself only.
    is_alone: bool = False

    def now_ms(self, request: Request, scope: str) -> int:
        """The time of a request by the clock of a scope's scripts, as far as this node has seen it (law 1)."""
        return request.now_ms + self.snapshots.offset_ms(scope)

    @staticmethod
    def make(config: Config, ring: Keyring, page: Callable[[str, str, str], Page], node: NodeCounters,
             flavour: Flavour = "redis") -> Context:  # fmt: skip
        """A context with fresh memories for a configuration."""
        return Context(config, Router(config), ring, TokenReader(ring), CookieReader(), node, page, Snapshots(),
                       OriginPasses(ring), flavour)  # fmt: skip
