"""The wasmtime engine of one process and its compiled component.

Compiling a 20 MB component takes seconds on every processor; the machine code is therefore kept on disk, by
content and wasmtime version, and mapped from there, so that worker processes share it.
"""

from __future__ import annotations

import hashlib
import importlib.metadata
import os
import platform
import threading
from pathlib import Path

import wasmtime
from wasmtime.component import Component

from host.component.build import cannot_write, touch

# A decision takes about a tenth of a millisecond. The clock is the wall's, and a busy machine deschedules a
# process for longer than 250 ms: a healthy instance must not be thrown away for that.
CALL_BUDGET_MS = 1_000
# Creating an instance and its first answer, on a busy machine with a cold disk.
START_BUDGET_MS = 10_000
TICK_MS = 10
# What Fastly Compute gives a sandbox.
MEMORY_LIMIT_BYTES = 128 * 1024 * 1024
COMPILED_KEPT = 6
# Machine code depends on these settings as well; raise it when `_config` changes.
RECIPE = "1"


class ComponentError(Exception):
    """The component cannot be read, compiled or started. The text names the file and the fault."""


def ticks(budget_ms: int) -> int:
    """The number of clock ticks after which a call has certainly had `budget_ms`."""
    return budget_ms // TICK_MS + 1


class GateEngine:
    """A wasmtime engine with its clock, and the component compiled for it.

    The clock is a thread that wakes every TICK_MS; `close` ends it. Raises ComponentError.
    """

    def __init__(self, component_path: Path, cache_dir: Path) -> None:
        config = wasmtime.Config()
        config.epoch_interruption = True
        self.engine = wasmtime.Engine(config)
        self.component = _load(self.engine, component_path, cache_dir / "compiled")
        self._closed = threading.Event()
        self._clock = threading.Thread(target=self._tick, name="gate-clock", daemon=True)
        self._clock.start()

    def _tick(self) -> None:
        while not self._closed.wait(TICK_MS / 1000):
            self.engine.increment_epoch()

    def close(self) -> None:
        """Stops the clock; calls are no longer bounded afterwards, so make none."""
        self._closed.set()
        self._clock.join()


def _load(engine: wasmtime.Engine, path: Path, compiled_dir: Path) -> Component:
    try:
        wasm = path.read_bytes()
    except OSError as error:
        raise ComponentError(f"cannot read the component {path}: {error.strerror}") from error
    kept = compiled_dir / f"{_fingerprint(wasm)}.cwasm"
    if kept.exists():
        try:
            touch(kept)
            return Component.deserialize_file(engine, str(kept))
        except (wasmtime.WasmtimeError, OSError):
            # A half-written or foreign file: compile again and replace it.
            kept.unlink(missing_ok=True)
    try:
        component = Component(engine, wasm)
    except wasmtime.WasmtimeError as error:
        raise ComponentError(
            f"{path} is not a component that this wasmtime can run: {_first_line(error)}"
        ) from error
    try:
        _keep(component, kept)
    except OSError as error:
        raise ComponentError(cannot_write(compiled_dir, error)) from error
    return component


def _fingerprint(wasm: bytes) -> str:
    where = (RECIPE, importlib.metadata.version("wasmtime"), platform.machine(), platform.system())
    return hashlib.sha256(repr(where).encode() + wasm).hexdigest()[:32]


def _keep(component: Component, kept: Path) -> None:
    # Whoever can write here can run code in this process: hence 0700.
    kept.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
    part = kept.with_suffix(f".{os.getpid()}.part")
    part.write_bytes(component.serialize())
    part.replace(kept)
    compiled = sorted(kept.parent.glob("*.cwasm"), key=lambda path: path.stat().st_mtime, reverse=True)
    for old in compiled[COMPILED_KEPT:]:
        old.unlink(missing_ok=True)


def _first_line(error: Exception) -> str:
    return str(error).strip().splitlines()[0]
