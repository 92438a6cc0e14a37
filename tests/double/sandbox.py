"""One sandbox: an instance of the component with its handles, for one request or for several in a row."""

from __future__ import annotations

import threading
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import wasmtime
from wasmtime.component import Component, EnumType, FuncType, Linker, RecordType, ResourceHost, ResourceType, Variant

from tests.double.cache import Lookup
from tests.double.calls import CALLS, without_detail
from tests.double.crossing import RESOURCE, Refused, lift, lower, patch, refusal
from tests.double.message import Body, Message
from tests.double.platform import Platform

INCOMING = "fastly:compute/http-incoming@0.1.0"
FUEL = 10**12
# What Fastly Compute gives a sandbox.
MEMORY_LIMIT_BYTES = 128 * 1024 * 1024

Deliver = Callable[[Message, Body], None]
_current = threading.local()


@dataclass
class Sandbox:
    """`calls` are the host functions in the order in which they were called, `sent` the backends that got a request."""

    platform: Platform
    deliver: Deliver
    waiting: list[tuple[Message, Body, Deliver]] = field(default_factory=list)
    table: dict[int, Any] = field(default_factory=dict)
    calls: list[str] = field(default_factory=list)
    sent: list[str] = field(default_factory=list)
    fuel: int = 0
    fuels: list[int] = field(default_factory=list)
    # The fuel that was spent when a host function was called.
    marks: list[tuple[str, int]] = field(default_factory=list)
    trap: str = ""
    _handles: int = 0
    store: Any = None

    def put(self, value: Any) -> int:
        self._handles += 1
        self.table[self._handles] = value
        return self._handles

    def answer(self, message: Message, body: Body) -> None:
        """The guest's answer to the request it serves; a second one is an error, as on the platform."""
        deliver, self.deliver = self.deliver, _refuse
        deliver(message, body)

    def take_next(self) -> tuple[Message, Body] | None:
        self.fuels.append(self.spent())
        if not self.waiting:
            return None
        message, body, self.deliver = self.waiting.pop(0)
        return message, body

    def spent(self) -> int:
        return FUEL - int(self.store.get_fuel())


def _refuse(message: Message, body: Body) -> None:
    raise refusal("generic-error")


class Host:
    """The compiled component with all that it imports. Raises WasmtimeError."""

    def __init__(self, engine: wasmtime.Engine, component: Component) -> None:
        patch()
        self.engine, self.component = engine, component
        self.linker = Linker(engine)
        self.linker.add_wasip2()
        with self.linker.root() as root:
            for name, item in component.type.imports(engine).items():
                if name.startswith("fastly:compute/"):
                    with root.add_instance(name) as instance:
                        self._define(instance, name.removeprefix("fastly:compute/").partition("@")[0], item.ty.exports(engine))

    def _define(self, instance: Any, interface: str, exports: Any) -> None:
        for name, item in exports.items():
            if isinstance(item.ty, ResourceType):
                instance.add_resource(name, ResourceType.host(RESOURCE), _drop)
            elif isinstance(item.ty, FuncType):
                instance.add_func(name, _function(f"{interface}#{name}", item.ty.result))

    def run(self, sandbox: Sandbox, message: Message, body: Body) -> Sandbox:
        """Lets a fresh instance serve the request, and those that wait in the sandbox."""
        store = sandbox.store = wasmtime.Store(self.engine)
        store.set_wasi(wasmtime.WasiConfig())
        store.set_limits(memory_size=MEMORY_LIMIT_BYTES)
        store.set_fuel(FUEL)
        _current.sandbox = sandbox
        try:
            instance = self.linker.instantiate(store, self.component)
            index = self.component.get_export_index("handle", self.component.get_export_index(INCOMING))
            handle = instance.get_func(store, index)
            told = handle(store, *(ResourceHost.own(sandbox.put(value), RESOURCE) for value in (message, body)))
            if isinstance(told, Variant) and told.tag == "err":
                sandbox.trap = "the guest answered with an error"
        except (wasmtime.WasmtimeError, wasmtime.Trap) as error:
            sandbox.trap = str(error)
        # What a sandbox was obliged to and did not do goes to another, however it ended.
        for value in sandbox.table.values():
            if isinstance(value, Lookup):
                value.close()
        sandbox.fuel = sandbox.spent()
        return sandbox


def _drop(store: Any, number: int) -> None:
    closed = _current.sandbox.table.pop(number, None)
    if isinstance(closed, Lookup):
        closed.close()


def _unsupported(result: Any) -> Refused:
    """The error of a function that does not work here, of the kind that it has."""
    if isinstance(result.err, EnumType):
        return Refused("unsupported")
    if isinstance(result.err, RecordType):
        return Refused(without_detail())
    return refusal("unsupported" if "unsupported" in dict(result.err.cases) else "generic-error")


def _function(name: str, result: Any) -> Callable[..., Any]:
    call = CALLS.get(name)
    short = name.partition("#")[2].rpartition(".")[2]

    def run(store: Any, *arguments: Any) -> Any:
        sandbox: Sandbox = _current.sandbox
        sandbox.calls.append(name)
        sandbox.marks.append((name, sandbox.spent()))
        values = [lift(store, argument, sandbox.table) for argument in arguments]
        try:
            if call is None or name in sandbox.platform.broken or short in sandbox.platform.broken:
                raise _unsupported(result)
            return lower(result, call(sandbox, *values), sandbox.put)
        except Refused as refused:
            return Variant("err", refused.value)

    return run
