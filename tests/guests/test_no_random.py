"""Python's `random` in a sandbox: seeding it costs nothing, and using it is an error instead of the same numbers everywhere."""

from __future__ import annotations

import random

import pytest

from edge.guests import no_random


def test_it_can_be_seeded_and_gives_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in random.__all__:  # put back afterwards
        monkeypatch.setattr(random, name, getattr(random, name))
    no_random.install()
    random.seed()
    random.seed(b"more")
    for use in (random.random, lambda: random.randrange(3), lambda: random.choice([1]), lambda: random.shuffle([1])):
        with pytest.raises(RuntimeError, match="not seeded"):
            use()
    assert 0 <= random.SystemRandom().random() < 1
