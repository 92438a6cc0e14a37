"""What one node counts for itself: places per client network, and admissions while Redis is away. Bounded, lost on restart."""

from __future__ import annotations

import re
from collections import deque
from ipaddress import IPv4Address, ip_address

from edge.core.tokens import Pass, Place

# As the host writes an address: most are of this kind, and parsing one costs a sandbox more than all the counting.
_PLAIN_IPV4 = re.compile(r"(?:(?:25[0-5]|2[0-4][0-9]|1[0-9][0-9]|[1-9]?[0-9])(?:\.(?!\Z)|\Z)){4}\Z")
_NETWORKS_AT_MOST = 20_000
_TICKETS_AT_MOST = 4096
_PASSES_AT_MOST = 4096
_MINUTE_MS = 60_000
_SLICE_MS = 5_000
NETWORKS_OF_A_PASS = 1000


def network_of(address: str) -> str:
    """The client network of an address: /24 of IPv4, /48 of IPv6; an address that is none stands for itself."""
    if _PLAIN_IPV4.match(address):
        return address.rpartition(".")[0]
    try:
        parsed = ip_address(address.partition("%")[0])
    except ValueError:
        return address
    mapped = getattr(parsed, "ipv4_mapped", None)
    parsed = mapped or parsed
    if isinstance(parsed, IPv4Address):
        return str(parsed).rpartition(".")[0]
    return parsed.exploded[:14]


class Granted:
    """Passes that this node has granted or renewed lately, bounded.

    A cookie may not have arrived: the origin's answer was one for shared caches, or the browser has ten requests under way.
    Then the visit is known all the same, and Redis is not asked again for what it has just said.
    """

    def __init__(self) -> None:
        self._passes: dict[tuple[str, str, str], Pass] = {}

    def remember(self, held: Pass) -> None:
        """Keeps a pass that Redis has just granted."""
        if len(self._passes) >= _PASSES_AT_MOST:
            del self._passes[next(iter(self._passes))]
        self._passes[held.scope, held.epoch, held.visitor] = held

    def of(self, token: Pass | Place) -> Pass | None:
        """The pass of the visit that a token belongs to, if this node knows one."""
        return self._passes.get((token.scope, token.epoch, token.visitor))

    def forget(self, held: Pass) -> None:
        """The visit is over."""
        self._passes.pop((held.scope, held.epoch, held.visitor), None)


class SeenFrom:
    """From which client networks each pass in use came since its last renewal, as far as this node has seen it. Bounded."""

    def __init__(self) -> None:
        self._networks: dict[tuple[str, str, str], set[str]] = {}

    def note(self, held: Pass, network: str) -> int:
        """Notes one request; answers how many networks there are now."""
        key = (held.scope, held.epoch, held.visitor)
        known = self._networks.get(key)
        if known is None:
            if len(self._networks) >= _PASSES_AT_MOST:
                del self._networks[next(iter(self._networks))]
            known = self._networks[key] = set()
        if len(known) <= NETWORKS_OF_A_PASS:
            known.add(network)
        return len(known)

    def begin(self, held: Pass) -> None:
        """The pass was renewed, or ended: a new period begins."""
        self._networks.pop((held.scope, held.epoch, held.visitor), None)


class NodeCounters:
    """Counts of one node. All times in Unix ms, given by the caller."""

    def __init__(self) -> None:
        # (begin of the window, count of the window before, count of this one)
        self._places: dict[tuple[str, str], tuple[int, int, int]] = {}
        self._tickets: dict[str, None] = {}
        self._admissions: dict[str, deque[int]] = {}
        self._holds: dict[str, int] = {}
        # scope -> (five seconds -> new visits in them), of the last minute
        self._visits: dict[str, dict[int, int]] = {}
        self._visit_tickets: dict[str, None] = {}
        self.seen_from = SeenFrom()
        self._name = ""
        self.refused_places = 0
        self.store_error_admissions = 0

    def take_place(self, queue_id: str, network: str, limit_per_minute: int, now_ms: int, ticket: str) -> bool:
        """Whether this network may get another place. A repeated `ticket` is the same place, asked for again."""
        if ticket in self._tickets:
            return True
        since_ms, before, count = self._window(queue_id, network, now_ms)
        left = 1 - (now_ms - since_ms) / _MINUTE_MS  # how much of the window before lies within the last minute
        if before * left + count >= limit_per_minute:
            self.refused_places += 1
            return False
        self._keep(queue_id, network, (since_ms, before, count + 1))
        if len(self._tickets) >= _TICKETS_AT_MOST:
            del self._tickets[next(iter(self._tickets))]
        self._tickets[ticket] = None
        return True

    def has_ticket(self, ticket: str) -> bool:
        """Whether this place was taken, and not returned."""
        return ticket in self._tickets

    def return_place(self, queue_id: str, network: str, now_ms: int, ticket: str) -> None:
        """No place came of it after all."""
        if ticket in self._tickets:
            del self._tickets[ticket]
            since_ms, before, count = self._window(queue_id, network, now_ms)
            self._keep(queue_id, network, (since_ms, before, max(0, count - 1)))

    def _window(self, queue_id: str, network: str, now_ms: int) -> tuple[int, int, int]:
        since_ms, before, count = self._places.get((queue_id, network), (now_ms, 0, 0))
        passed_ms = now_ms - since_ms
        if passed_ms >= 2 * _MINUTE_MS or passed_ms < 0:
            return now_ms, 0, 0
        return (since_ms + _MINUTE_MS, count, 0) if passed_ms >= _MINUTE_MS else (since_ms, before, count)

    def _keep(self, queue_id: str, network: str, window: tuple[int, int, int]) -> None:
        self._places.pop((queue_id, network), None)
        while len(self._places) >= _NETWORKS_AT_MOST:
            del self._places[next(iter(self._places))]
        self._places[queue_id, network] = window

    def visit(self, scope: str, ticket: str, now_ms: int) -> None:
        """Counts a new visit; the same `ticket` (64 random hex digits) is the same visit. The first one also names this node."""
        self._name = self._name or ticket[40:56]
        if ticket in self._visit_tickets:
            return
        if len(self._visit_tickets) >= _TICKETS_AT_MOST:
            del self._visit_tickets[next(iter(self._visit_tickets))]
        self._visit_tickets[ticket] = None
        slices, at = self._visits.setdefault(scope, {}), now_ms // _SLICE_MS
        slices[at] = slices.get(at, 0) + 1
        self._forget_old(slices, at)

    def visits(self, scope: str, now_ms: int) -> tuple[str, int]:
        """The node's name, empty before its first visit, and the new visits of a scope in the last minute, to five seconds."""
        slices = self._visits.get(scope, {})
        self._forget_old(slices, now_ms // _SLICE_MS)
        return self._name, sum(slices.values())

    @staticmethod
    def _forget_old(slices: dict[int, int], at: int) -> None:
        # Of a clock that was set back, too.
        for old in [each for each in slices if not at - _MINUTE_MS // _SLICE_MS < each <= at]:
            del slices[old]

    def hold(self, queue_id: str, until_ms: int) -> None:
        """Redis has just been told of a newcomer who was handed a cookie: until then it need not be told of each."""
        self._holds[queue_id] = until_ms

    def is_holding(self, queue_id: str, now_ms: int) -> bool:
        """Whether newcomers get a candidate's cookie without a question to Redis."""
        return now_ms < self._holds.get(queue_id, 0)

    def take_store_error_admission(self, queue_id: str, per_minute: int, now_ms: int) -> bool:
        """One admission without Redis: never more than `per_minute` within any minute."""
        times = self._admissions.get(queue_id)
        if times is None or times.maxlen != per_minute:
            times = self._admissions[queue_id] = deque(times or (), maxlen=per_minute)
        if len(times) == per_minute and 0 <= now_ms - times[0] < _MINUTE_MS:
            return False
        times.append(now_ms)
        self.store_error_admissions += 1
        return True
