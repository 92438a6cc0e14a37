"""The checks are checked: every fault in the scripts is seen by the model of the scripts and by the simulation."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from edge.core import scripts
from sim.history import Violated
from sim.run import Run
from sim.store import Store as SaleStore
from tests.faults.entries import FAULTS, Fault
from tests.faults.mutate import NotFound, changed_text, seeded
from tests.faults.sales import NAMES, sale
from tests.faults.stories import STORIES
from tests.needs import needs
from tests.scripts.backends import RealRedis, redis_server

by_name = pytest.mark.parametrize("fault", FAULTS, ids=lambda fault: fault.name)


@pytest.fixture(scope="module")
def port(tmp_path_factory: pytest.TempPathFactory) -> Iterator[int]:
    with redis_server(needs("redis"), tmp_path_factory.mktemp("redis")) as started:
        yield started


def tell(port: int, story: str) -> None:
    store = RealRedis(port)
    try:
        STORIES[story](store)
    finally:
        store.close()


def hold(port: int, name: str) -> Run:
    store = SaleStore(port)
    store.run([["FLUSHALL"]])
    run = Run(sale(name), store)
    try:
        run.go()
    finally:
        store.close()
    return run


@pytest.mark.parametrize("story", STORIES)
def test_sound_scripts_pass_every_story(port: int, story: str) -> None:
    tell(port, story)


@pytest.mark.parametrize("name", NAMES)
def test_sound_scripts_pass_every_sale(port: int, name: str) -> None:
    run = hold(port, name)
    assert run.account.counts["claims"] > 5
    assert run.account.counts["checks"] > 5


@by_name
def test_the_model_sees_the_fault(port: int, fault: Fault) -> None:
    with seeded(fault), pytest.raises(AssertionError):
        tell(port, fault.story)


@by_name
def test_the_simulation_sees_the_fault(port: int, fault: Fault) -> None:
    with seeded(fault), pytest.raises(Violated):
        hold(port, fault.sale)


def test_a_fault_whose_text_is_gone_fails_loudly() -> None:
    gone = Fault("gone", "clock", "no such text", "")
    with pytest.raises(NotFound, match="found 0 times"), seeded(gone):
        pass
    with pytest.raises(NotFound, match="found 2 times"):
        changed_text(Fault("twice", "clock", "a", "b"), "a a")


def test_the_sound_scripts_are_back_afterwards() -> None:
    before = [script.sha for script in scripts.ALL]
    with seeded(FAULTS[0]):
        assert [script.sha for script in scripts.ALL] != before
    assert [script.sha for script in scripts.ALL] == before
    assert len({fault.name for fault in FAULTS}) == len(FAULTS) >= 12
