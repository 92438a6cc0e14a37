"""Rules: which requests a queue's routes hold, how specific each is, and when two are one and the same."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from edge.core.model import Route
from edge.core.spelling import meaning_of_pattern

Rank = tuple[int, int, int, int, int]


def path_matches(pattern: str, path: str) -> bool:
    """Whether a path falls under a pattern; /a/* also holds /a."""
    if not pattern.endswith("*"):
        return path == pattern
    prefix = pattern[:-1]
    return path.startswith(prefix) or (prefix.endswith("/") and path == prefix[:-1])


def covers(patterns: Sequence[str], paths: Iterable[str]) -> bool:
    """Whether every spelling of a path falls under some pattern, as it means: the test for an exemption."""
    return bool(patterns) and all(any(path_matches(pattern, path) for pattern in patterns) for path in paths)


@dataclass(slots=True)
class Rule:
    """A route, read once. `path` and `methods` as they are compared."""

    route: Route
    path: str
    methods: frozenset[str]
    rank: Rank

    @staticmethod
    def of(route: Route) -> Rule:
        """Reads a route. Who may not GET may not HEAD either."""
        path = meaning_of_pattern(route.path)
        methods = frozenset(route.methods) | ({"HEAD"} if "GET" in route.methods else set())
        return Rule(route, path.lower() if route.ignore_case else path, methods, _rank(route, path))

    @property
    def words(self) -> str:
        """The rule as people write it."""
        route = self.route
        host, methods = "" if route.host == "*" else route.host, " ".join(route.methods)
        return f"{methods} {host}{route.path}".lstrip()

    @property
    def first_segment(self) -> str | None:
        """The first segment of every path that the rule holds, in lower case; None if that is open."""
        head, slash, _ = self.path[1:].partition("/")
        return None if head.endswith("*") and not slash else head.lower()

    def holds(self, host: str, path: str, method: str) -> bool:
        """Whether the rule is for this request. A request that names no host is for any."""
        if self.methods and method not in self.methods:
            return False
        if not _host_matches(self.route.host, host):
            return False
        return path_matches(self.path, path.lower() if self.route.ignore_case else path)


def _host_matches(pattern: str, host: str) -> bool:
    if pattern == "*" or not host:
        return True
    return host.endswith(pattern[1:]) if pattern.startswith("*.") else host == pattern


def _rank(route: Route, path: str) -> Rank:
    """How specific a rule is: exact host, longer host, exact path, longer path, named methods; higher is more specific."""
    host_kind = 0 if route.host == "*" else 1 if route.host.startswith("*.") else 2
    is_exact = not path.endswith("*")
    return (host_kind, len(route.host), len(path) + is_exact, int(is_exact), int(bool(route.methods)))


def is_same_rule(one: Rule, other: Rule) -> bool:
    """Whether some request is held by both and neither is more specific: then only the country can tell them apart."""
    if one.route.host != other.route.host or one.rank != other.rank:
        return False
    if one.methods and other.methods and not one.methods & other.methods:
        return False
    if one.route.ignore_case or other.route.ignore_case:
        return one.path.lower() == other.path.lower()
    return one.path == other.path
