"""The gate: one long-lived component instance, asked by strings, replaced when it breaks.

Calls are synchronous and come from one thread, the event loop's: wasmtime-py hands an exception of a host
import over in one module-level variable (`wasmtime/component/_enter.py`), so the imports here never raise,
and no two calls overlap.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Protocol

import wasmtime
from wasmtime.component import Func, Linker, Variant

from host.component.engine import (
    CALL_BUDGET_MS,
    MEMORY_LIMIT_BYTES,
    START_BUDGET_MS,
    ComponentError,
    GateEngine,
    ticks,
)

PACKAGE = "stanchion:gatekeeper"
VERSION = "0.1.0"
# A call that broke its instance is tried once more on a fresh one.
ATTEMPTS = 2


class GateFailed(Exception):
    """The gate gave no answer, or none that the contract knows. The text is for the log, not for visitors."""


class KeyValue(Protocol):
    """Configuration and pages. `get` answers None for what is absent, and raises when it cannot tell."""

    def get(self, key: str) -> str | None:
        """The value of a key."""
        ...


@dataclass(frozen=True)
class Imports:
    """All that the guest can reach of this machine, the clock and randomness of WASI apart."""

    kv: KeyValue
    settings: Mapping[str, str]
    secrets: Mapping[str, str]
    log: Callable[[str], None]


@dataclass(frozen=True)
class Wants:
    """What the guest says about itself. Names are lower-case."""

    version: str
    headers: tuple[str, ...]
    answer_headers: tuple[str, ...]
    private_prefix: str


class Gate:
    """The gatekeeper as three functions of strings.

    Raises ComponentError when the component cannot be started at all. `replaced` counts instances that broke.
    """

    def __init__(self, engine: GateEngine, imports: Imports) -> None:
        self._engine = engine
        self._linker = _linker(engine, imports)
        self._budget_ticks = ticks(CALL_BUDGET_MS)
        self.replaced = 0
        try:
            self._instance: _Instance | None = self._start()
            self.wants = _parse_wants(self._instance.call("wants", self._budget_ticks))
        except (wasmtime.WasmtimeError, GateFailed) as error:
            raise ComponentError(f"the gatekeeper component does not start: {_reason(error)}") from error

    def ask_wants(self) -> Wants:
        """What the guest wants now; it may follow the configuration. Raises GateFailed, and what it wanted before stays."""
        self.wants = _parse_wants(self._call("wants"))
        return self.wants

    def decide(self, request: str, replies: str) -> str:
        """One step of a decision. Raises GateFailed."""
        return self._call("decide", request, replies)

    def conclude(self, request: str, context: str, answer: str) -> str:
        """What to append to the origin's answer. Raises GateFailed."""
        return self._call("conclude", request, context, answer)

    def _call(self, function: str, *arguments: str) -> str:
        trouble = ""
        for _ in range(ATTEMPTS):
            try:
                self._instance = self._instance or self._start()
                return self._instance.call(function, self._budget_ticks, *arguments)
            except (wasmtime.WasmtimeError, UnicodeError) as error:
                # After a trap the instance cannot be entered again, and its Python state is half changed.
                self._instance = None
                self.replaced += 1
                trouble = _reason(error)
        raise GateFailed(f"{function} failed {ATTEMPTS} times: {trouble}")

    def _start(self) -> _Instance:
        return _Instance(self._engine, self._linker)


class _Instance:
    """One component instance with a store of its own."""

    def __init__(self, engine: GateEngine, linker: Linker) -> None:
        wasi = wasmtime.WasiConfig()
        # Tracebacks of the guest go to the operator. Not by a callback: wasmtime calls it from a thread of
        # its own, also while Python is shutting down, and that aborts the process.
        wasi.inherit_stderr()
        self._store = wasmtime.Store(engine.engine)
        self._store.set_wasi(wasi)
        self._store.set_limits(memory_size=MEMORY_LIMIT_BYTES)
        self._store.set_epoch_deadline(ticks(START_BUDGET_MS))
        instance = linker.instantiate(self._store, engine.component)
        self._functions: dict[str, Func] = {}
        for name in ("wants", "decide", "conclude"):
            function = instance.get_func(self._store, name)
            if function is None:
                raise GateFailed(f"the component exports no function {name!r}")
            self._functions[name] = function

    def call(self, name: str, budget_ticks: int, *arguments: str) -> str:
        self._store.set_epoch_deadline(budget_ticks)
        answer = self._functions[name](self._store, *arguments)
        if not isinstance(answer, str):
            raise GateFailed(f"{name} answered with {type(answer).__name__}, not with a string")
        return answer


def _linker(engine: GateEngine, imports: Imports) -> Linker:
    def kv_get(_: object, key: str) -> Variant:
        try:
            value = imports.kv.get(key)
        except (
            Exception
        ) as error:  # whatever a store raises, the guest must hear "failed" and nothing must trap
            return Variant("failed", str(error) or type(error).__name__)
        return Variant("absent") if value is None else Variant("found", value)

    linker = Linker(engine.engine)
    linker.add_wasip2()
    with linker.root() as root:
        functions: tuple[tuple[str, str, Callable[..., object]], ...] = (
            ("kv", "get", kv_get),
            ("settings", "get", lambda _, name: imports.settings.get(name)),
            ("secrets", "get", lambda _, name: imports.secrets.get(name)),
            ("log", "write", lambda _, line: _quietly(imports.log, line)),
        )
        for interface, name, function in functions:
            with root.add_instance(f"{PACKAGE}/{interface}@{VERSION}") as instance:
                instance.add_func(name, function)
    return linker


def _quietly(write: Callable[[str], None], line: str) -> None:
    try:
        write(line)
    except Exception:  # a full disk under the log must not break a decision
        return


def _parse_wants(text: str) -> Wants:
    try:
        told = json.loads(text)
        return Wants(
            version=str(told["version"]),
            headers=tuple(str(name).lower() for name in told["headers"]),
            answer_headers=tuple(str(name).lower() for name in told["answer_headers"]),
            private_prefix=str(told["private_prefix"]).lower(),
        )
    except (ValueError, TypeError, KeyError) as error:
        raise GateFailed(
            f"`wants` answered with something else than the contract's JSON: {error!r}"
        ) from error


def _reason(error: Exception) -> str:
    text = str(error)
    if "wasm trap: interrupt" in text:
        return f"no answer within {CALL_BUDGET_MS} ms"
    if "wasm trap: wasm `unreachable`" in text:
        return "the guest raised an exception, see its traceback on standard error"
    return " ".join(text.split()) or type(error).__name__
