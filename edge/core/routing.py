"""Which queues guard a request: rules by host, path and method, on every spelling that an origin might read.

For each spelling of the path the most specific rule decides. A rule holds if any spelling falls under it; an exemption counts
only if all do; and where two spellings lead to different queues, a visitor has to be inside both.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from operator import itemgetter
from typing import Literal

from edge.core.config import Config
from edge.core.model import Queue
from edge.core.rules import Rank, Rule, covers, is_same_rule
from edge.core.spelling import meaning_of_pattern, normalise_host, path_of, spellings

_CACHE_ENTRIES = 4096
_CACHED_TARGET_MAX = 256

Group = tuple[Queue, ...]
Turned = Literal["pass", "refuse"]


@dataclass(slots=True)
class Match:
    """What guards a request. A group is the queues of one rule, which share it by country; the most specific comes first.

    `exempt` and `returns` are ids: queues that let the path pass unseen (bypass, or an asset asked for by GET or HEAD), and
    queues at which it is a place to which a payment comes back. `rules` says by id which rule holds, in words.
    """

    groups: tuple[Group, ...]
    paths: tuple[str, ...]
    exempt: frozenset[str]
    returns: frozenset[str]
    rules: dict[str, str]
    is_all_exempt: bool


def extension_of(path: str) -> str:
    """The extension of a path's last part, in lower case without its dot; empty for none."""
    name = path.rpartition("/")[2]
    stem, dot, extension = name.rpartition(".")
    return extension.lower() if dot and stem else ""


class Router:
    """The rules of a configuration, with a bounded memory of what was matched before."""

    def __init__(self, config: Config) -> None:
        self._config = config
        self._rules: dict[str, tuple[Rule, ...]] = {}
        self._cache: dict[tuple[str, str, str], Match | None] = {}
        self._sharers: dict[str, tuple[Group, ...]] = {}

    def _rules_of(self, queue: Queue) -> tuple[Rule, ...]:
        """The rules of a queue, read when it is first met."""
        known = self._rules.get(queue.id)
        if known is None:
            known = self._rules[queue.id] = tuple(map(Rule.of, queue.routes))
        return known

    def match(self, host: str, target: str, method: str) -> Match | None:
        """The queues that guard this request, or None."""
        key = (host, target.partition("?")[0], method)
        try:
            return self._cache[key]
        except KeyError:
            found = self._find(normalise_host(host), spellings(path_of(target)), method.upper())
        # Odd spellings come from those who look for a way round; they need no memory, and would fill it.
        is_plain = found is None or len(found.paths) == 1
        if is_plain and len(key[0]) + len(key[1]) + len(method) <= _CACHED_TARGET_MAX:
            if len(self._cache) >= _CACHE_ENTRIES:
                self._cache.pop(next(iter(self._cache)))
            self._cache[key] = found
        return found

    def entry(self, queue: Queue, country: str) -> Queue | Turned:
        """Where a visitor without a token who asks for this very queue goes: the queue, or "pass" or "refuse"."""
        if queue.id not in self._sharers:
            self._sharers[queue.id] = tuple(self._sharing(queue))
        ways = [choose_by_country(group, country) for group in self._sharers[queue.id]]
        return queue if queue in ways else "pass" if "pass" in ways else "refuse"

    def _sharing(self, queue: Queue) -> Iterator[Group]:
        for rule in self._rules_of(queue):
            near = self._config.below(rule.first_segment or "")
            shares = (other for other in near if any(is_same_rule(rule, each) for each in self._rules_of(other)))
            yield tuple(shares)

    def _find(self, host: str, paths: tuple[str, ...], method: str) -> Match | None:
        decided = [found for path in paths if (found := self._decide(host, path, method))]
        if not decided:
            return None
        decided.sort(key=itemgetter(0), reverse=True)
        groups = tuple(dict.fromkeys([tuple([queue for queue, _ in members]) for _, members in decided]))
        rules = {queue.id: rule.words for _, members in reversed(decided) for queue, rule in members}
        queues = [queue for group in groups for queue in group]
        exempt = frozenset([queue.id for queue in queues if _is_exempt(queue, paths, method)])
        returns = frozenset([queue.id for queue in queues if _covers(queue.return_paths, paths)])
        return Match(groups, paths, exempt, returns, rules, exempt.issuperset(rules))

    def _decide(self, host: str, path: str, method: str) -> tuple[Rank, list[tuple[Queue, Rule]]] | None:
        """The most specific rules for one spelling, each queue once."""
        segment = path[1:].partition("/")[0].lower()
        near = self._config.below(segment)
        held = [(queue, rule) for queue in near for rule in self._rules_of(queue) if rule.holds(host, path, method)]
        if not held:
            return None
        best = max([rule.rank for _, rule in held])
        members = {queue.id: (queue, rule) for queue, rule in held if rule.rank == best}
        return best, list(members.values())


def _covers(patterns: tuple[str, ...], paths: tuple[str, ...]) -> bool:
    return covers(tuple(map(meaning_of_pattern, patterns)), paths)


def _is_exempt(queue: Queue, paths: tuple[str, ...], method: str) -> bool:
    if method in ("GET", "HEAD") and "." in paths[0] and all(extension_of(path) in queue.asset_extensions for path in paths):
        return True
    return _covers(queue.bypass, paths)


def choose_by_country(group: Group, country: str) -> Queue | Turned:
    """Where a visitor without a token goes. `country`: two capital letters, or "" for unknown."""
    for queue in group:
        if queue.countries is None or country in queue.countries:
            return queue
    key = "other_countries" if country else "unknown_country"
    for queue in group:
        if getattr(queue, key) == "enter":
            return queue
    return "pass" if any(getattr(queue, key) == "pass" for queue in group) else "refuse"
