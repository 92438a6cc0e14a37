"""The hosts by name. Each module of this package has `make() -> Host`, which skips with one line when a program is missing."""

from __future__ import annotations

import importlib
import os

import pytest

from tests.conformance.host import Host

# Which starter each HOST has; `make conformance HOST=...` sets the variable.
STARTERS = {"local": "local", "viceroy": "viceroy", "jco": "jco_serve", "wasmtime": "wasmtime_serve"}
CHOSEN = os.environ.get("STANCHION_CONFORMANCE_HOST", "local")


def chosen() -> Host:
    """The host that this run is about. Fails for a name that is none."""
    if CHOSEN not in STARTERS:
        pytest.exit(f"no host {CHOSEN!r}; known: {', '.join(sorted(STARTERS))}", returncode=2)
    made: Host = importlib.import_module(f"tests.conformance.hosts.{STARTERS[CHOSEN]}").make()
    return made
