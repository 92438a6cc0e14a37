"""The lighter bookkeeping keeps the promises of the heavy one: dropped once when it is gone, never when it was given away."""

from __future__ import annotations

import gc
import weakref
from collections.abc import Callable

import pytest

from edge.guests import light_handles


class Thing:
    """As the bindings write a resource: the finalizer is kept in the object that it is about."""

    def __init__(self, drop: Callable[[int, int], object], kind: int, number: int) -> None:
        self.finalizer = weakref.finalize(self, drop, kind, number)


@pytest.fixture
def dropped(monkeypatch: pytest.MonkeyPatch) -> list[tuple[int, int]]:
    """What was dropped. A class of its own is changed: other tests need the real one."""

    class Own(weakref.finalize):  # type: ignore[type-arg]
        pass

    monkeypatch.setattr(weakref, "finalize", Own)
    monkeypatch.setattr(light_handles, "_Finalize", Own)
    light_handles.install()
    return []


def test_the_host_is_told_once_when_a_handle_is_gone(dropped: list[tuple[int, int]]) -> None:
    thing = Thing(lambda *numbers: dropped.append(numbers), 1, 2)
    finalizer = thing.finalizer
    del thing, finalizer
    gc.collect()
    assert dropped == [(1, 2)]


def test_it_is_told_of_one_that_went_in_a_circle(dropped: list[tuple[int, int]]) -> None:
    thing = Thing(lambda *numbers: dropped.append(numbers), 3, 4)
    thing.itself = thing  # type: ignore[attr-defined]
    del thing
    assert dropped == []
    gc.collect()
    assert dropped == [(3, 4)]


def test_a_handle_that_was_given_away_is_not_dropped(dropped: list[tuple[int, int]]) -> None:
    thing = Thing(lambda *numbers: dropped.append(numbers), 1, 2)
    told = thing.finalizer.detach()
    assert told is not None
    assert told[2:] == ((1, 2), {})
    assert thing.finalizer.detach() is None
    assert thing.finalizer() is None
    told[1](*told[2])
    assert dropped == [(1, 2)], "the bindings drop it themselves with what they were told"
    del thing
    gc.collect()
    assert dropped == [(1, 2)]


def test_a_handle_can_be_dropped_by_hand(dropped: list[tuple[int, int]]) -> None:
    thing = Thing(lambda *numbers: dropped.append(numbers), 7, 8)
    thing.finalizer()
    del thing
    gc.collect()
    assert dropped == [(7, 8)]
