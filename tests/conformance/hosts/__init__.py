"""The hosts by name. Each module of this package has `make() -> Host`, which skips with one line when a program is missing."""

from __future__ import annotations

import importlib
import os
from collections.abc import Mapping
from types import ModuleType

import pytest

from tests.conformance.host import Host, Limit

# Which starter each HOST has; `make conformance HOST=...` sets the variable.
STARTERS = {"local": "local", "double": "double", "viceroy": "viceroy", "jco": "jco_serve", "wasmtime": "wasmtime_serve"}
CHOSEN = os.environ.get("STANCHION_CONFORMANCE_HOST", "local")


def chosen(name: str = CHOSEN) -> Host:
    """The host that this run is about. Skips when a program is missing."""
    made: Host = _starter(name).make()
    return made


def chosen_limits() -> Mapping[str, Limit]:
    """What it cannot do, whether it is installed or not."""
    limits: Mapping[str, Limit] = getattr(_starter(CHOSEN), "LIMITS", {})
    return limits


def _starter(name: str) -> ModuleType:
    if name not in STARTERS:
        pytest.exit(f"no host {name!r}; known: {', '.join(sorted(STARTERS))}", returncode=2)
    return importlib.import_module(f"tests.conformance.hosts.{STARTERS[name]}")
