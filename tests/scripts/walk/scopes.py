"""What is walked: with every run of the tests (`BOUNDED`), and by hand to the end (`FULL`)."""

from __future__ import annotations

from tests.scripts.walk.run import Scope

_SLOTS = {"admit_per_minute": None}
_RATE = {"admit_per_minute": 4, "burst": 1}

BOUNDED = (
    Scope("two visitors, one slot", 2, {**_SLOTS, "max_active": 1}),
    Scope("two visitors, a token in 15 seconds", 2, {**_RATE, "max_active": 2}, direct=True, depth=4),
    Scope("three visitors, two slots", 3, {**_SLOTS, "max_active": 2}, with_operator=True, depth=4),
)
FULL = (
    Scope("two visitors, one slot", 2, {**_SLOTS, "max_active": 1}, direct=True),
    Scope("two visitors, one slot, an operator", 2, {**_SLOTS, "max_active": 1}, with_operator=True),
    Scope("two visitors, two units", 2, {**_SLOTS, "inventory": 2}),
    Scope("two visitors, a token in 15 seconds", 2, {**_RATE, "max_active": 2}, direct=True),
    Scope("three visitors, two slots", 3, {**_SLOTS, "max_active": 2}),
)
