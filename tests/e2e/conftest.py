from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.e2e.stack import Stack, queue, running
from tests.host.rest.servers import RedisServer, free_port
from tests.needs import needs

QUEUES = [
    queue("rate", admit_per_minute=20, burst=1),
    queue("slow", admit_per_minute=1, burst=1),
    queue("hand", manual=True),
    queue("cap", max_active=1),
    queue("calm", admit_per_minute=100_000, burst=10_000),
    queue("pay", manual=True, return_paths=["/pay/return"], bypass=["/pay/hook/*"]),
    queue("live", admit_per_minute=1, burst=1),
    queue("again", manual=True),
    queue("done", max_active=1),
    queue("few", manual=True, places_per_network_per_minute=3),
    queue("code", manual=True, held_status=429, same_site="none"),
    queue("jp", manual=True, routes=[{"path": "/country/*"}], countries=["JP"]),
    queue("us", manual=True, routes=[{"path": "/country/*"}], countries=["US"], unknown_country="enter"),
    queue("wide", manual=True, routes=[{"path": "/wide/*"}]),
    queue("deep", manual=True, routes=[{"path": "/wide/deep/*"}]),
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
