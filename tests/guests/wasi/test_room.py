"""More visitors than `wasmtime serve` has room for: with the bound of docs/hosts.md they wait, without it some get a bare 500."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import ExitStack
from pathlib import Path

import pytest

from tests.conformance.hosts.wasmtime_serve import LIMITS, PARTS, WasmtimeHost
from tests.conformance.origin import seen_first_half
from tests.conformance.world import World, running
from tests.e2e.stack import queue
from tests.host.edge.wire import connect, read_head
from tests.needs import needs

AT_ONCE = 5
# A visitor who goes away leaves room a moment later than the connection: all of those who are let in may go at once.
ROOM_FOR = 2 * AT_ONCE
ROOM = tuple(word for what in ("core-instances", "tables") for word in ("-O", f"pooling-total-{what}={ROOM_FOR * PARTS}"))
ASK = b"GET /about/stream HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n"


def crowd(world: World, kept: int) -> list[bytes]:
    """The status of each of three times as many as there is room for; the site lets go when `kept` have the head of an answer."""
    seen_first_half.clear()
    found = []
    with ExitStack() as stack:
        stack.callback(seen_first_half.set)
        streams = [connect(world.port) for _ in range(3 * AT_ONCE)]
        for stream in streams:
            stack.enter_context(stream.sock)
            stream.sock.sendall(ASK)
        for number, stream in enumerate(streams):
            if number == kept:
                seen_first_half.set()
                for first in streams[:kept]:
                    first.sock.close()
            head = read_head(stream)
            assert head is not None, world.host.log()[-500:]
            found.append(head.start.split()[1])
    return found


@pytest.mark.parametrize(("bound", "kept", "expected"), [
    (("--max-concurrent-connections", str(AT_ONCE)), AT_ONCE, [b"200"] * 3 * AT_ONCE),
    ((), 3 * AT_ONCE, [b"200"] * ROOM_FOR + [b"500"] * (3 * AT_ONCE - ROOM_FOR)),
])  # fmt: skip
def test_a_crowd_above_the_room(tmp_path: Path, bound: Sequence[str], kept: int, expected: list[bytes]) -> None:
    needs("wasmtime")
    host = WasmtimeHost("wasmtime", LIMITS, at_once=bound, room=ROOM)
    with running(host, tmp_path / "site", [queue("hold", manual=True)]) as world:
        assert sorted(crowd(world, kept)) == expected
