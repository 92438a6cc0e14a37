"""The configuration as a whole: read, checked, and its JSON Schema.

`load_config` refuses what cannot mean anything; the caller keeps the last good one.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any

from edge.core.combinations import check_queue
from edge.core.errors import ConfigError
from edge.core.fields import Field, ListOf, Obj, Text
from edge.core.groups import GROUP, SHARED, QueueGroup, check_groups, effective
from edge.core.json_text import read_json
from edge.core.model import QUEUE, Queue
from edge.core.rules import Rule, is_same_rule
from edge.core.sealed import SealedText, is_sealed

CONFIG_KEY = "config.json"  # where the store keeps it
CONFIG_MAX_BYTES = 2_000_000
POLL_FAR_S = 30  # the longest interval that a page is told (a browser's hidden tab makes it 60)


@dataclass(frozen=True, eq=False)
class Config:
    """All queues of one deployment, as they work: those of a group with what the group shares."""

    queues: tuple[Queue, ...]
    groups: tuple[QueueGroup, ...] = ()

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Config) and (self.queues, self.groups) == (other.queues, other.groups)

    def __hash__(self) -> int:
        return hash(self.queues)

    @cached_property
    def _by_id(self) -> dict[str, Queue]:
        return {queue.id: queue for queue in self.queues}

    def queue(self, queue_id: str) -> Queue | None:
        """The queue with this id, or None."""
        return self._by_id.get(queue_id)

    @cached_property
    def _by_scope(self) -> dict[str, tuple[Queue, ...]]:
        found: dict[str, tuple[Queue, ...]] = {}
        for queue in sorted(self.queues, key=lambda queue: queue.line):
            found[queue.scope] = (*found.get(queue.scope, ()), queue)
        return found

    def scope(self, scope: str) -> tuple[Queue, ...]:
        """The queues of a scope in the order of their lines: one, or those of a group."""
        return self._by_scope.get(scope, ())

    @cached_property
    def _by_segment(self) -> dict[str | None, tuple[Queue, ...]]:
        found: dict[str | None, dict[str, Queue]] = {}
        for queue in self.queues:
            for route in queue.routes:
                found.setdefault(Rule.of(route).first_segment, {})[queue.id] = queue
        return {segment: tuple(queues.values()) for segment, queues in found.items()}

    def below(self, segment: str) -> tuple[Queue, ...]:
        """Queues with a rule whose paths may begin with this segment, in lower case; perhaps some more."""
        found = self._by_segment.get(segment, ()), self._by_segment.get(None, ())
        return tuple(dict.fromkeys(found[0] + found[1])) if found[0] and found[1] else found[0] or found[1]

    @cached_property
    def names_countries(self) -> bool:
        """Whether any queue is for some countries only."""
        return any(queue.countries is not None for queue in self.queues)


class SealedConfig(Config):
    """The same out of a sealed text, each queue read when it is asked for."""

    def __init__(self, text: str) -> None:
        vars(self)["_sealed"] = SealedText(text)

    _sealed: SealedText

    @cached_property
    def queues(self) -> tuple[Queue, ...]:
        """All of them."""
        return self._sealed.all()

    @property
    def groups(self) -> tuple[QueueGroup, ...]:
        """All of them."""
        return self._sealed.groups

    def queue(self, queue_id: str) -> Queue | None:
        """The queue with this id, or None."""
        return self._sealed.queue(queue_id)

    def scope(self, scope: str) -> tuple[Queue, ...]:
        """The queues of a scope in the order of their lines."""
        group = next((group for group in self.groups if group.id == scope), None)
        found = map(self._sealed.queue, group.queues if group else (scope,))
        return tuple(queue for queue in found if queue is not None and queue.scope == scope)

    def below(self, segment: str) -> tuple[Queue, ...]:
        """Queues with a rule whose paths may begin with this segment."""
        found = map(self._sealed.queue, self._sealed.ids_below(segment))
        return tuple([queue for queue in found if queue is not None])

    @property
    def names_countries(self) -> bool:
        """Whether any queue is for some countries only."""
        return self._sealed.names_countries


CONFIG = Obj(
    (
        Field("queues", ListOf(QUEUE, 0, 10_000), "all queues"),
        Field("groups", ListOf(GROUP, 0, 1_000), "queues that share totals", ()),
        Field("checked", Text("[0-9a-f]{8}( [^ ]+)* ?", "a checksum and an index", CONFIG_MAX_BYTES),
              "written when the configuration is saved; leave it out", ""),
    ),
    lambda v: Config(v["queues"], v["groups"]),
)  # fmt: skip


def _countries_clash(one: Queue, other: Queue) -> str:
    if one.countries is None or other.countries is None:
        return "both take every country" if one.countries is other.countries else "one of them takes every country"
    both = sorted(set(one.countries) & set(other.countries))
    if both:
        return f"both take {', '.join(both)}"
    for key in ("unknown_country", "other_countries"):
        values = {getattr(one, key), getattr(other, key)} - {"refuse"}
        if getattr(one, key) == getattr(other, key) == "enter" or len(values) == 2:
            return f"{key} is not refuse in both"
    return ""


def _check_clashes(queues: tuple[Queue, ...]) -> None:
    seen: dict[tuple[str, str], list[tuple[Queue, Rule]]] = {}
    for index, queue in enumerate(queues):
        for place, route in enumerate(queue.routes):
            rule = Rule.of(route)
            rivals = seen.setdefault((route.host, rule.path.lower()), [])
            for rival, rival_rule in rivals:
                clash = rival.id != queue.id and is_same_rule(rule, rival_rule) and _countries_clash(rival, queue)
                if clash:
                    raise ConfigError(f"queues[{index}].routes[{place}]", f"queue {rival.id} has the same rule and {clash}")
            rivals.append((queue, rule))


def check_config(value: Any) -> Config:
    """The configuration of a parsed JSON value. Raises ConfigError naming the path and what is allowed."""
    written: Config = CONFIG.check(value, "")
    ids: set[str] = set()
    for index, queue in enumerate(written.queues):
        if queue.id in ids:
            raise ConfigError(f"queues[{index}].id", f"{queue.id!r} is taken by another queue")
        ids.add(queue.id)
    check_groups(written.groups, written.queues, value["queues"])
    config = Config(effective(written.queues, written.groups), written.groups)
    places = {group.id: f"groups[{index}]" for index, group in enumerate(config.groups)}
    for index, queue in enumerate(config.queues):
        path = f"queues[{index}]"
        check_queue(queue, path, places.get(queue.group, path), SHARED)
    _check_clashes(config.queues)
    return config


def load_config(text: str) -> Config:
    """The configuration of a JSON text; one that was checked when it was saved is taken as it is. Raises ConfigError."""
    if len(text) > CONFIG_MAX_BYTES:
        raise ConfigError("", f"the configuration is larger than {CONFIG_MAX_BYTES} bytes")
    if is_sealed(text):
        return SealedConfig(text)
    return check_config(read_json(text))


def json_schema() -> dict[str, Any]:
    """The JSON Schema (draft 2020-12) of the configuration. Combinations are checked by `check_config` beyond it."""
    return {"$schema": "https://json-schema.org/draft/2020-12/schema", "title": "Stanchion configuration", **CONFIG.schema()}
