"""What one node counts for itself: places per client network, and admissions while Redis is away. Bounded, lost on restart."""

from __future__ import annotations

from ipaddress import IPv4Address, ip_address

_NETWORKS_AT_MOST = 20_000
_MINUTE_MS = 60_000


def network_of(address: str) -> str:
    """The client network of an address: /24 of IPv4, /48 of IPv6; an address that is none stands for itself."""
    try:
        parsed = ip_address(address.partition("%")[0])
    except ValueError:
        return address
    mapped = getattr(parsed, "ipv4_mapped", None)
    parsed = mapped or parsed
    if isinstance(parsed, IPv4Address):
        return str(parsed).rpartition(".")[0]
    return parsed.exploded[:14]


class NodeCounters:
    """Counts of one node. All times in Unix ms, given by the caller."""

    def __init__(self) -> None:
        self._places: dict[tuple[str, str], tuple[int, int]] = {}
        self._admissions: dict[str, tuple[float, int]] = {}
        self.refused_places = 0
        self.store_error_admissions = 0

    def may_place(self, queue_id: str, network: str, limit_per_minute: int, now_ms: int) -> bool:
        """Whether this network may get another place in this minute."""
        since_ms, count = self._places.get((queue_id, network), (now_ms, 0))
        allowed = now_ms - since_ms >= _MINUTE_MS or count < limit_per_minute
        self.refused_places += not allowed
        return allowed

    def count_place(self, queue_id: str, network: str, now_ms: int) -> None:
        """Notes a place that was given."""
        key = (queue_id, network)
        since_ms, count = self._places.pop(key, (now_ms, 0))
        if now_ms - since_ms >= _MINUTE_MS:
            since_ms, count = now_ms, 0
        while len(self._places) >= _NETWORKS_AT_MOST:
            self._places.pop(next(iter(self._places)))
        self._places[key] = (since_ms, count + 1)

    def take_store_error_admission(self, queue_id: str, per_minute: int, now_ms: int) -> bool:
        """One admission without Redis, from a bucket that holds a sixth of a minute's worth, at least one."""
        size = max(1.0, per_minute / 6)
        tokens, last_ms = self._admissions.get(queue_id, (size, now_ms))
        tokens = min(size, tokens + max(0, now_ms - last_ms) * per_minute / _MINUTE_MS)
        allowed = tokens >= 1
        self._admissions[queue_id] = (tokens - allowed, now_ms)
        self.store_error_admissions += allowed
        return allowed
