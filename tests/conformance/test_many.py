"""Many visitors at once whose site is slow: each gets the site's answer, or one in words that says when to come back."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from contextlib import ExitStack

import pytest

from tests.conformance.hosts import chosen
from tests.conformance.limits import limited
from tests.conformance.origin import seen_first_half
from tests.conformance.world import World, running
from tests.e2e.stack import queue
from tests.host.edge.wire import connect, read_head

AT_ONCE = 130


@pytest.fixture(scope="module")
def world(tmp_path_factory: pytest.TempPathFactory) -> Iterator[World]:
    """An edge of its own: what it has grown to for this crowd goes with it."""
    with running(chosen(), tmp_path_factory.mktemp("many"), [queue("hold", manual=True)]) as started:
        yield started


@limited("parallel", "many")
def test_a_crowd_before_a_slow_site_meets_no_bare_error(world: World) -> None:
    seen_first_half.clear()
    answers: Counter[str] = Counter()
    with ExitStack() as stack:
        stack.callback(seen_first_half.set)
        streams = [connect(world.port) for _ in range(AT_ONCE)]
        for stream in streams:
            stack.enter_context(stream.sock)
            stream.sock.sendall(b"GET /about/stream HTTP/1.1\r\nHost: localhost\r\n\r\n")
        for stream in streams:
            head = read_head(stream)
            assert head is not None, world.host.log()[-500:]
            in_words = head.start.split()[1] == b"200" or head.get("Retry-After") is not None
            answers[f"{head.start!r} {'in words' if in_words else 'bare'}"] += 1
    assert not [kind for kind in answers if kind.endswith("bare")], answers
