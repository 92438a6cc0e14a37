"""Slows down guessing at the sign-in, in bounded memory.

Each client network has a bucket of attempts; one more bucket is shared by all networks that never signed in, so that many
addresses together are slow too. A network that did sign in keeps its own bucket whatever the others do.
"""

from __future__ import annotations

import ipaddress
from collections import OrderedDict
from collections.abc import Callable
from dataclasses import dataclass

NETWORKS_AT_MOST = 2_000
NETWORK_ATTEMPTS = 5
NETWORK_EARNS_AFTER_S = 30.0
SHARED_ATTEMPTS = 30
SHARED_EARNS_AFTER_S = 2.0


@dataclass
class _Bucket:
    left: float
    at_s: float

    def fill(self, now_s: float, size: int, earns_after_s: float) -> None:
        self.left = min(float(size), self.left + max(0.0, now_s - self.at_s) / earns_after_s)
        self.at_s = now_s


def client_network(address: str) -> str:
    """The network that counts as one client: an IPv4 address, or the /64 of an IPv6 address."""
    try:
        ip = ipaddress.ip_address(address)
    except ValueError:
        return "unknown"
    if isinstance(ip, ipaddress.IPv6Address):
        mapped = ip.ipv4_mapped
        return str(mapped) if mapped else str(ipaddress.ip_network((int(ip) >> 64 << 64, 64)))
    return str(ip)


class Throttle:
    """Counts attempts. `monotonic_s` is the clock."""

    def __init__(self, monotonic_s: Callable[[], float]) -> None:
        self._clock = monotonic_s
        self._networks: OrderedDict[str, _Bucket] = OrderedDict()
        self._known: OrderedDict[str, None] = OrderedDict()
        self._shared = _Bucket(SHARED_ATTEMPTS, monotonic_s())

    def take(self, address: str) -> float:
        """Takes one attempt. Returns 0.0, or the seconds to wait when none is left."""
        now_s, network = self._clock(), client_network(address)
        own = self._networks.pop(network, None) or _Bucket(NETWORK_ATTEMPTS, now_s)
        self._networks[network] = own
        if len(self._networks) > NETWORKS_AT_MOST:
            self._networks.popitem(last=False)
        own.fill(now_s, NETWORK_ATTEMPTS, NETWORK_EARNS_AFTER_S)
        self._shared.fill(now_s, SHARED_ATTEMPTS, SHARED_EARNS_AFTER_S)
        buckets = [(own, NETWORK_EARNS_AFTER_S)]
        if network not in self._known:
            buckets.append((self._shared, SHARED_EARNS_AFTER_S))
        wait_s = max((1.0 - bucket.left) * earns_after_s for bucket, earns_after_s in buckets)
        # Whoever has waited as long as told is not sent away by a rounding error.
        if wait_s > 1e-6:
            return wait_s
        for bucket, _ in buckets:
            bucket.left -= 1.0
        return 0.0

    def succeeded(self, address: str) -> None:
        """The attempt was the operator's: the network gets its attempts back and is known from now on."""
        network = client_network(address)
        self._networks.pop(network, None)
        self._known.pop(network, None)
        self._known[network] = None
        if len(self._known) > NETWORKS_AT_MOST:
            self._known.popitem(last=False)
