"""Every test of the scripts runs on the embedded Redis and on a real one."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from hypothesis import settings

from tests.needs import needs
from tests.scripts.backends import Embedded, RealRedis, Store, redis_server
from tests.scripts.line import Line

settings.register_profile(
    "scripts", derandomize=True, deadline=None, max_examples=40, stateful_step_count=40, print_blob=False
)


@pytest.fixture(scope="session")
def redis_port(tmp_path_factory: pytest.TempPathFactory) -> Iterator[int]:
    """A redis-server of this test run."""
    with redis_server(needs("redis"), tmp_path_factory.mktemp("redis")) as port:
        yield port


@pytest.fixture(params=["embedded", "redis"])
def store(request: pytest.FixtureRequest) -> Iterator[Store]:
    """An empty store."""
    if request.param == "embedded":
        embedded = Embedded()
        yield embedded
        embedded.close()
        return
    real = RealRedis(request.getfixturevalue("redis_port"))
    real.command("FLUSHALL")
    yield real
    real.close()


@pytest.fixture
def line(store: Store) -> Line:
    """A queue that has just begun: 60 a minute, ten saved up (the default burst)."""
    return Line(store)
