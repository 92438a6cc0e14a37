"""Values on their way between guest and host. Handles are numbers in a table of the sandbox."""

from __future__ import annotations

import ctypes
from collections.abc import Callable
from functools import cache
from typing import Any

from wasmtime import _ffi as ffi
from wasmtime.component import ListType, OptionType, OwnType, ResourceAny, ResourceHost, ResultType, TupleType, Variant

# One host type for all resources: an alias of a resource in another interface is then the same by itself.
RESOURCE = 1
_SIZE = ctypes.sizeof(ffi.wasmtime_component_val_t)


class Refused(Exception):
    """The host answers with the error arm of a result."""

    def __init__(self, value: Any) -> None:
        super().__init__(value)
        self.value = value


def refusal(kind: str, payload: Any = None) -> Refused:
    """An `error` of the interface `types`."""
    return Refused(Variant(kind, payload))


def lift(store: Any, value: Any, table: dict[int, Any]) -> Any:
    """What the guest passed; a handle that it gives away leaves the table."""
    if isinstance(value, ResourceAny):
        is_owned = value.owned
        number = value.to_host(store).rep
        return table.pop(number) if is_owned else table[number]
    if isinstance(value, list):
        return [lift(store, item, table) for item in value]
    return value


def lower(kind: Any, value: Any, put: Callable[[Any], int]) -> Any:
    """What the guest gets."""
    if isinstance(kind, ResultType):
        return Variant("ok", None if kind.ok is None else lower(kind.ok, value, put))
    if value is None:
        return None
    if isinstance(kind, OptionType):
        return lower(kind.payload, value, put)
    if isinstance(kind, OwnType):
        return ResourceHost.own(put(value), RESOURCE)
    if isinstance(kind, TupleType):
        return tuple(lower(part, item, put) for part, item in zip(kind.elements, value, strict=True))
    return value


@cache
def _encoded() -> list[bytes]:
    """Each byte as the library's value of kind u8."""
    found = []
    for number in range(256):
        value = ffi.wasmtime_component_val_t()
        value.kind = ffi.WASMTIME_COMPONENT_U8
        value.of.u8 = number
        found.append(bytes(value))
    return found


def patch() -> None:
    """Two repairs of wasmtime's Python bindings: results with an optional inside, and lists of bytes at a bearable speed."""
    if getattr(ListType, "_is_patched", False):
        return
    to_c, from_c = ListType.convert_to_c, ListType.convert_from_c
    offset = ffi.wasmtime_component_val_t.of.offset

    def bytes_to_c(self: Any, store: Any, value: Any, target: Any) -> None:
        if not self._is_bytes() or not value:
            to_c(self, store, value, target)
            return
        raw = ffi.wasmtime_component_vallist_t()
        ffi.wasmtime_component_vallist_new_uninit(raw, len(value))
        table = _encoded()
        ctypes.memmove(raw.data, b"".join([table[byte] for byte in value]), len(value) * _SIZE)
        target.contents.kind = ffi.WASMTIME_COMPONENT_LIST
        target.contents.of.list = raw

    def bytes_from_c(self: Any, source: Any) -> Any:
        if not self._is_bytes() or not source.of.list.size:
            return from_c(self, source)
        found = ctypes.string_at(source.of.list.data, source.of.list.size * _SIZE)[offset::_SIZE]
        ffi.wasmtime_component_vallist_delete(ctypes.byref(source.of.list))
        return found

    ListType.convert_to_c, ListType.convert_from_c = bytes_to_c, bytes_from_c  # type: ignore[method-assign]
    ResultType._tagged = lambda self: True  # type: ignore[method-assign]
    ListType._is_patched = True  # type: ignore[attr-defined]
