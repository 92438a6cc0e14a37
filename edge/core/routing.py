r"""Which queues guard a request: rules by host, path and method, on every spelling that an origin might read.

A path is looked at as it was sent and as it means (decoded once, `//`, `\` and dot segments resolved, with and without
`;parameters`). A rule holds if any spelling matches it; an exemption counts only if all do: the guarded one wins.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from urllib.parse import unquote_to_bytes

from edge.core.config import Config
from edge.core.model import Queue, Route

_CACHE_ENTRIES = 4096
_CACHED_TARGET_MAX = 512


def path_of(target: str) -> str:
    """The path of a request target as it was sent, without query and fragment; an absolute-form target loses its origin."""
    if not target.startswith("/"):
        scheme, found, rest = target.partition("://")
        if found and scheme.isalnum():
            slash = min((at for at in map(rest.find, "/?#") if at >= 0), default=len(rest))
            target = rest[slash:]
            target = target if target.startswith("/") else "/" + target
    return target.partition("?")[0].partition("#")[0]


def normalise_host(host: str) -> str:
    """Lower case, without port and trailing dot; an IPv6 literal keeps its brackets."""
    host = host.strip().lower()
    if host.startswith("["):
        return host[: host.find("]") + 1] or host
    return host.partition(":")[0].rstrip(".")


def _resolve(path: str) -> str:
    segments: list[str] = []
    parts = path.replace("\\", "/").split("/")
    for part in parts:
        if part == "..":
            if segments:
                segments.pop()
        elif part not in ("", "."):
            segments.append(part)
    is_folder = parts[-1] in ("", ".", "..") and bool(segments)
    return "/" + "/".join(segments) + ("/" if is_folder else "")


def spellings(path: str) -> tuple[str, ...]:
    """The path as sent and as an origin may read it, each once; the last is the normalised one."""
    if not any(mark in path for mark in ("%", "//", "/.", "\\", ";")) and path.isascii():
        return (path,)
    decoded = unquote_to_bytes(path.encode("latin-1", "replace")).decode("utf-8", "replace")
    plain = "/".join(part.partition(";")[0] for part in decoded.split("/"))
    return tuple(dict.fromkeys((path, _resolve(plain), _resolve(decoded))))


def _path_matches(pattern: str, path: str) -> bool:
    if not pattern.endswith("*"):
        return path == pattern
    prefix = pattern[:-1]
    return path.startswith(prefix) or (prefix.endswith("/") and path == prefix[:-1])


def any_matches(patterns: Iterable[str], paths: tuple[str, ...]) -> bool:
    """Whether every spelling of a path is covered by some pattern: the test for an exemption."""
    patterns = tuple(patterns)
    return bool(patterns) and all(any(_path_matches(pattern, path) for pattern in patterns) for path in paths)


def _host_matches(pattern: str, host: str) -> bool:
    if pattern == "*":
        return True
    return host.endswith(pattern[1:]) if pattern.startswith("*.") else host == pattern


def _route_matches(route: Route, host: str, paths: tuple[str, ...], method: str) -> bool:
    if route.methods and method not in route.methods:
        return False
    if not _host_matches(route.host, host):
        return False
    if route.ignore_case:
        pattern = route.path.lower()
        return any(_path_matches(pattern, path.lower()) for path in paths)
    return any(_path_matches(route.path, path) for path in paths)


_Rank = tuple[int, int, int, int, int]


def _rank(route: Route) -> _Rank:
    """How specific a rule is: exact host, longer host, exact path, longer path, named methods; higher is more specific."""
    host_kind = 0 if route.host == "*" else 1 if route.host.startswith("*.") else 2
    is_exact = not route.path.endswith("*")
    return (host_kind, len(route.host), len(route.path) + is_exact, int(is_exact), int(bool(route.methods)))


@dataclass(frozen=True)
class Match:
    """Queues that guard a request, the most specific rule first; queues of one rule share it by country."""

    groups: tuple[tuple[Queue, ...], ...]
    paths: tuple[str, ...]

    def is_exempt(self, queue: Queue, method: str) -> bool:
        """Whether `queue` lets this pass unseen: a bypass path, or an asset asked for by GET or HEAD."""
        if any_matches(queue.bypass, self.paths):
            return True
        return method in ("GET", "HEAD") and all(_extension(path) in queue.asset_extensions for path in self.paths)


def _extension(path: str) -> str:
    name = path.rpartition("/")[2]
    stem, dot, extension = name.rpartition(".")
    return extension.lower() if dot and stem else ""


class Router:
    """The rules of a configuration, with a bounded memory of what was matched before."""

    def __init__(self, config: Config) -> None:
        self._rules = [(queue, route, _rank(route)) for queue in config.queues for route in queue.routes]
        self._cache: dict[tuple[str, str, str], Match | None] = {}

    def match(self, host: str, target: str, method: str) -> Match | None:
        """The queues that guard this request, or None."""
        raw = target.partition("?")[0]
        key = (host, raw, method)
        if key in self._cache:
            return self._cache[key]
        found = self._find(normalise_host(host), spellings(path_of(target)), method)
        if len(raw) <= _CACHED_TARGET_MAX:
            if len(self._cache) >= _CACHE_ENTRIES:
                self._cache.pop(next(iter(self._cache)))
            self._cache[key] = found
        return found

    def _find(self, host: str, paths: tuple[str, ...], method: str) -> Match | None:
        best: dict[str, tuple[_Rank, Queue]] = {}
        for queue, route, rank in self._rules:
            is_better = queue.id not in best or rank > best[queue.id][0]
            if is_better and _route_matches(route, host, paths, method):
                best[queue.id] = (rank, queue)
        if not best:
            return None
        ranks = sorted({rank for rank, _ in best.values()}, reverse=True)
        return Match(tuple(tuple(q for r, q in best.values() if r == rank) for rank in ranks), paths)


def choose_by_country(match: Match, country: str) -> Queue | str:
    """Where a visitor without a token goes: a queue, "pass", or "refuse". `country`: two capital letters, or "" for unknown."""
    for group in match.groups:
        for queue in group:
            if queue.countries is None or country in queue.countries:
                return queue
        key = "other_countries" if country else "unknown_country"
        for queue in group:
            if getattr(queue, key) == "enter":
                return queue
        if any(getattr(queue, key) == "pass" for queue in group):
            return "pass"
    return "refuse"
