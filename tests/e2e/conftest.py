from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.e2e.stack import Stack, queue, running
from tests.host.rest.servers import RedisServer, free_port
from tests.needs import needs

QUEUES = [
    queue("hand", manual=True),
    queue("live", admit_per_minute=1, burst=1),
    queue("again", manual=True),
    queue("app", manual=True),
    queue("load", admit_per_minute=600, burst=3, max_active=4),
    queue("plan", manual=True, max_active=4),
    queue("bots", manual=True, crawlers="hold"),
    queue("vouch", manual=True, lanes=[{"name": "standard"}, {"name": "members", "rule": "header:X-Member"}]),
    queue("account", manual=True, visitor_key="cookie:account", visitor_key_required=True, one_visit_per_key=True,
          sign_in_url="/sign-in"),
    queue("work", manual=True, proof_of_work_bits=12),
    queue("toil", manual=True, proof_of_work_bits=12),
    queue("spoken", manual=True, page="concert"),
]


@pytest.fixture(scope="session")
def redis_server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[RedisServer]:
    server = RedisServer(needs("redis"), tmp_path_factory.mktemp("redis"), free_port())
    server.start()
    yield server
    server.kill()


@pytest.fixture(scope="session")
def stack(tmp_path_factory: pytest.TempPathFactory, redis_server: RedisServer) -> Iterator[Stack]:
    """One product for many tests, each with queues of its own; before a real Redis."""
    folder: Path = tmp_path_factory.mktemp("stack")
    with running(folder, QUEUES, redis_server.url) as started:
        yield started
