"""Any sequence of what can happen keeps the laws, on both stores."""

from __future__ import annotations

import pytest
from hypothesis import settings
from hypothesis.stateful import RuleBasedStateMachine, run_state_machine_as_test

from tests.scripts.backends import Embedded, RealRedis, Store
from tests.scripts.lines_machine import LinesMachine
from tests.scripts.machine import QueueMachine


@pytest.mark.parametrize("kind", ["embedded", "redis"])
@pytest.mark.parametrize(("machine", "examples"), [(QueueMachine, 28), (LinesMachine, 20)])
def test_the_laws_hold_whatever_happens(
    machine: type[RuleBasedStateMachine], examples: int, kind: str, request: pytest.FixtureRequest
) -> None:
    port = request.getfixturevalue("redis_port") if kind == "redis" else 0

    class Machine(machine):  # type: ignore[misc, valid-type]
        def make_store(self) -> Store:
            return RealRedis(port) if port else Embedded()

    run_state_machine_as_test(Machine, settings=settings(settings.get_profile("scripts"), max_examples=examples, database=None))
