"""The lighter bookkeeping keeps the promises of the heavy one: dropped once when it is gone, never when it was given away."""

from __future__ import annotations

import gc
import weakref
from collections.abc import Iterator

import pytest

from edge.guests import light_handles


class Thing:
    pass


@pytest.fixture
def dropped(monkeypatch: pytest.MonkeyPatch) -> Iterator[list[tuple[int, int]]]:
    """What was dropped. A class of its own is changed: other tests need the real one."""

    class Own(weakref.finalize):  # type: ignore[type-arg]
        pass

    monkeypatch.setattr(weakref, "finalize", Own)
    monkeypatch.setattr(light_handles, "_Finalize", Own)
    light_handles.install()
    yield []
    assert not light_handles._kept, "nothing is kept of what is gone"


def test_the_host_is_told_once_when_a_handle_is_gone(dropped: list[tuple[int, int]]) -> None:
    thing = Thing()
    finalizer = weakref.finalize(thing, lambda *numbers: dropped.append(numbers), 1, 2)
    assert dropped == []
    del thing
    gc.collect()
    assert dropped == [(1, 2)]
    assert finalizer() is None
    assert dropped == [(1, 2)]


def test_a_handle_that_was_given_away_is_not_dropped(dropped: list[tuple[int, int]]) -> None:
    thing = Thing()
    finalizer = weakref.finalize(thing, lambda *numbers: dropped.append(numbers), 1, 2)
    told = finalizer.detach()
    assert told is not None
    assert (told[0] is thing, told[2], told[3]) == (True, (1, 2), {})
    assert finalizer.detach() is None
    del thing, told
    gc.collect()
    assert dropped == []


def test_a_handle_can_be_dropped_by_hand(dropped: list[tuple[int, int]]) -> None:
    thing = Thing()
    finalizer = weakref.finalize(thing, lambda *numbers: dropped.append(numbers), 7, 8)
    finalizer()
    del thing
    gc.collect()
    assert dropped == [(7, 8)]
