"""Handles of the host's resources with less bookkeeping: a fresh sandbox makes about twenty of them for one request.

The bindings tie each handle to a `weakref.finalize`, which numbers it, registers itself for the exit of the program, and imports
a module the first time: more than the call costs that made the handle. What the bindings need of it is little: the host is told
once when the object is gone, unless the handle was given away (`detach`) before.
"""

from __future__ import annotations

import weakref
from collections.abc import Callable
from importlib import import_module
from typing import Any

# Known to the bindings by its class, which they have looked up before any module of ours runs: so its methods are replaced.
_Finalize: Any = weakref.finalize
_TIMES = 12
_kept: dict[Any, tuple[Any, Callable[..., object], tuple[Any, ...]]] = {}


def _begin(self: Any, thing: Any, drop: Callable[..., object], /, *arguments: Any) -> None:
    _kept[self] = (weakref.ref(thing, self), drop, arguments)


def _drop(self: Any, _: Any = None) -> Any:
    kept = _kept.pop(self, None)
    return None if kept is None else kept[1](*kept[2])


def _detach(self: Any) -> tuple[Any, Callable[..., object], tuple[Any, ...], dict[str, Any]] | None:
    kept = _kept.pop(self, None)
    return None if kept is None else (kept[0](), kept[1], kept[2], {})


def install() -> None:
    """For the whole sandbox. Of `weakref.finalize` only the making, the call and `detach` work afterwards."""
    _Finalize.__init__, _Finalize.__call__, _Finalize.detach = _begin, _drop, _detach
    for _ in range(_TIMES):  # as for all code: its first calls cost most, and are made while the component is built
        for thing in (_Thing(), _Thing()):
            weakref.finalize(thing, int)
        weakref.finalize(thing, int).detach()


def maker(kind: Any, *arguments: Any) -> Callable[[list[Any]], Any]:
    """What makes a handle of this kind, out of a list of such arguments, by one call of the host and nothing else.

    The constructor in the bindings has the host make one, and then makes another of the same out of it.
    """
    runtime: Any = import_module("componentize_py_runtime")
    leaves = runtime.call_import

    def note(number: int, given: list[Any]) -> Any:
        raise _Noted(number)

    runtime.call_import = note
    try:
        kind(*arguments)
    except _Noted as noted:
        number: int = noted.args[0]
    finally:
        runtime.call_import = leaves


    def make(given: list[Any]) -> Any:
        return runtime.call_import(number, given)

    # Known by the name of what it stands for (edge/guests/rehearsal.py).
    make.__code__ = make.__code__.replace(co_qualname=kind.__init__.__qualname__)
    return make


class _Noted(Exception):
    """The number by which the bindings know a function of the host."""


class _Thing:
    """What a handle is of."""
