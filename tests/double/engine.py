"""The component of the product's sources under wasmtime, with fuel; compiled once for each of its builds."""

from __future__ import annotations

import hashlib
import importlib.metadata
import platform
from functools import cache
from pathlib import Path

import wasmtime
from wasmtime.component import Component

from host.component.build import ROOT, locked
from host.fastly.build import build_fastly
from tests.double.sandbox import Host

CACHE = ROOT / ".cache"
_KEPT = 3


@cache
def host() -> Host:
    """The host with the component of these sources. Raises BuildError."""
    config = wasmtime.Config()
    config.consume_fuel = True
    engine = wasmtime.Engine(config)
    return Host(engine, _compiled(engine, build_fastly(CACHE)))


def _compiled(engine: wasmtime.Engine, wasm: Path) -> Component:
    where = (importlib.metadata.version("wasmtime"), platform.machine(), "fuel")
    name = hashlib.sha256(repr(where).encode() + wasm.read_bytes()).hexdigest()[:32]
    folder = CACHE / "compiled-with-fuel"
    folder.mkdir(parents=True, exist_ok=True, mode=0o700)
    kept = folder / f"{name}.cwasm"
    # Test processes side by side compile once.
    with locked(folder / "lock"):
        if not kept.exists():
            part = kept.with_suffix(".part")
            part.write_bytes(Component(engine, wasm.read_bytes()).serialize())
            part.replace(kept)
            for old in sorted(folder.glob("*.cwasm"), key=lambda path: path.stat().st_mtime, reverse=True)[_KEPT:]:
                old.unlink(missing_ok=True)
    return Component.deserialize_file(engine, str(kept))
