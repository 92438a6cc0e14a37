"""Any sequence of what can happen keeps the laws, on both stores."""

from __future__ import annotations

import pytest
from hypothesis import settings
from hypothesis.stateful import run_state_machine_as_test

from tests.scripts.backends import Embedded, RealRedis, Store
from tests.scripts.machine import QueueMachine


@pytest.mark.parametrize("kind", ["embedded", "redis"])
def test_the_laws_hold_whatever_happens(kind: str, request: pytest.FixtureRequest) -> None:
    port = request.getfixturevalue("redis_port") if kind == "redis" else 0

    class Machine(QueueMachine):
        def make_store(self) -> Store:
            return RealRedis(port) if port else Embedded()

    run_state_machine_as_test(Machine, settings=settings.get_profile("scripts"))
