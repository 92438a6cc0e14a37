"""Which node of a Redis Cluster owns which slot, as its nodes tell it."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from typing import Any

from redis.asyncio.connection import AbstractConnection
from redis.crc import REDIS_CLUSTER_HASH_SLOTS, key_slot

from host.rest.backend import BackendAway
from host.rest.node import Node, tcp_node
from host.rest.replies import Reply, ReplyError


class Topology:
    """The primaries by slot. Reads go to them too, so a client always reads its own writes."""

    def __init__(
        self, seeds: Sequence[tuple[str, int]], connection_class: type[AbstractConnection], options: dict[str, Any]
    ) -> None:
        self._seeds = list(seeds)
        self._connection_class = connection_class
        self._options = options
        self._nodes: dict[tuple[str, int], Node] = {}
        self._owners: list[Node | None] = [None] * REDIS_CLUSTER_HASH_SLOTS
        self._refreshing: asyncio.Task[None] | None = None

    def node(self, host: str, port: int) -> Node:
        """The node at that address, known or new."""
        address = (host, port)
        if address not in self._nodes:
            self._nodes[address] = tcp_node(host, port, self._connection_class, self._options)
        return self._nodes[address]

    async def owner(self, key: bytes) -> Node:
        """The primary that owns the key's slot. Raises BackendAway when no node tells it."""
        slot = key_slot(key)
        if self._owners[slot] is None:
            await self.refresh()
        owner = self._owners[slot]
        if owner is None:
            raise BackendAway(f"no node of the cluster owns slot {slot}")
        return owner

    async def primaries(self) -> list[Node]:
        """Each primary once, in slot order. Raises BackendAway."""
        if not any(self._owners):
            await self.refresh()
        return list(dict.fromkeys(node for node in self._owners if node is not None))

    async def refresh(self) -> None:
        """Asks the cluster again; calls at the same time share one question. Raises BackendAway."""
        if self._refreshing is None or self._refreshing.done():
            self._refreshing = asyncio.create_task(self._refresh())
        await asyncio.shield(self._refreshing)

    async def close(self) -> None:
        """Closes every node's idle connections."""
        for node in list(self._nodes.values()):
            await node.close()

    async def _refresh(self) -> None:
        problems = []
        for node in self._to_ask():
            try:
                (reply,) = await node.exchange([[b"CLUSTER", b"SLOTS"]])
            except BackendAway as error:
                problems.append(str(error))
                continue
            if isinstance(reply, list) and reply:
                await self._adopt(reply, node)
                return
            reason = reply.text if isinstance(reply, ReplyError) else "no slot is assigned"
            problems.append(f"Redis at {node.name}: {reason}")
        raise BackendAway("no node of the cluster tells its slots: " + "; ".join(problems))

    def _to_ask(self) -> list[Node]:
        # The seeds last: the nodes that were told later know more, and a seed may be long gone.
        seeds = [self.node(*seed) for seed in self._seeds]
        return [*(node for node in self._nodes.values() if node not in seeds), *seeds]

    async def _adopt(self, slots: list[Reply], told_by: Node) -> None:
        owners: list[Node | None] = [None] * REDIS_CLUSTER_HASH_SLOTS
        for row in slots:
            start, end, host, port = _slot_range(row)
            # An empty host means "the address that you asked" (Redis, CLUSTER SLOTS).
            owner = self.node(host, port) if host else told_by
            owners[start : end + 1] = [owner] * (end + 1 - start)
        self._owners = owners
        kept = {node for node in owners if node is not None} | {self.node(*seed) for seed in self._seeds}
        gone = {address: node for address, node in self._nodes.items() if node not in kept}
        for address, node in gone.items():
            del self._nodes[address]
            await node.close()


def _slot_range(row: Reply) -> tuple[int, int, str, int]:
    match row:
        case [int(start), int(end), [host, int(port), *_], *_]:
            return start, end, host.decode() if isinstance(host, bytes) else "", port
    raise BackendAway(f"CLUSTER SLOTS answered something else: {row!r:.100}")


def redirection(text: str) -> tuple[str, str, int] | None:
    """`MOVED 3999 10.0.0.1:6381` as ("MOVED", "10.0.0.1", 6381), `ASK` alike; None for any other error.

    An empty host means the one that said so.
    """
    word, _, rest = text.partition(" ")
    if word not in ("MOVED", "ASK"):
        return None
    address = rest.rpartition(" ")[2]
    host, _, port = address.rpartition(":")
    return (word, host, int(port)) if port.isdigit() else None
