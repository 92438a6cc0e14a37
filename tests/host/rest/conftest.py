from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import httpx
import pytest

from tests.host.rest.servers import READ_ONLY_TOKEN, TOKEN, Door, RedisServer, free_port, running_door
from tests.needs import needs


@pytest.fixture(scope="session")
def real_redis(tmp_path_factory: pytest.TempPathFactory) -> Iterator[RedisServer]:
    server = RedisServer(needs("redis"), tmp_path_factory.mktemp("redis"), free_port())
    server.start()
    yield server
    server.kill()


@pytest.fixture(scope="session", params=["embedded", "real"])
def door(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Door]:
    """A running door over each kind of Redis, with both tokens."""
    url = ""
    if request.param == "real":
        redis: RedisServer = request.getfixturevalue("real_redis")
        url = redis.url
    log: Path = tmp_path_factory.mktemp("door") / "stderr.txt"
    with running_door(url, stderr=log, STANCHION_REDIS_READONLY_TOKEN=READ_ONLY_TOKEN) as running:
        yield running
    assert '"unexpected"' not in log.read_text()


@pytest.fixture
def http(door: Door) -> Iterator[httpx.Client]:
    """A client with the full token and an empty database."""
    with httpx.Client(base_url=door.url, headers={"Authorization": f"Bearer {TOKEN}"}, timeout=15) as client:
        assert client.post("/", json=["FLUSHALL"]).json() == {"result": "OK"}
        yield client
