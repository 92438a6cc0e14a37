"""Handles of the host's resources with less bookkeeping: a fresh sandbox makes about forty of them for one request.

The bindings tie each handle to a `weakref.finalize`, which numbers it, registers itself for the exit of the program, and imports
a module the first time: more than the call costs that made the handle. What the bindings need of it is little: the host is told
once when the object is gone, unless the handle was given away (`detach`) before.
"""

from __future__ import annotations

import weakref
from collections.abc import Callable
from importlib import import_module
from typing import Any

# Known to the bindings by its class, which they have looked up before any module of ours runs: so its making is replaced.
_Finalize: Any = weakref.finalize
_NO_KEYWORDS: dict[str, Any] = {}
_TIMES = 12
_new = object.__new__


class _Finalizer:
    """What stands in its place. The bindings keep it in the object that it is about, and nowhere else: both go together."""

    __slots__ = ("_drop", "_kind", "_number")
    _drop: Callable[[int, int], object] | None
    _kind: int
    _number: int

    def detach(self) -> tuple[None, Callable[[int, int], object], tuple[int, int], dict[str, Any]] | None:
        """The handle was given away; how it would have been dropped. None when it was before."""
        drop = self._drop
        if drop is None:
            return None
        self._drop = None
        return None, drop, (self._kind, self._number), _NO_KEYWORDS

    def __call__(self) -> object:
        """Drops it now."""
        drop = self._drop
        if drop is None:
            return None
        self._drop = None
        return drop(self._kind, self._number)

    def __del__(self) -> None:
        drop = self._drop
        if drop is not None:
            drop(self._kind, self._number)


def _make(kind_of_finalizer: type, thing: object, drop: Callable[[int, int], object], kind: int, number: int) -> _Finalizer:
    made = _new(_Finalizer)
    made._drop, made._kind, made._number = drop, kind, number
    return made


def install() -> None:
    """For the whole sandbox. What `weakref.finalize` makes afterwards acts when it goes itself, not when the thing does."""
    _Finalize.__new__ = _make
    for _ in range(_TIMES):  # as for all code: its first calls cost most, and are made while the component is built
        for thing in (_Thing(), _Thing()):
            thing.finalizer = weakref.finalize(thing, _nothing, 0, 0)
        thing.finalizer.detach()


def _nothing(kind: int, number: int) -> None:
    """Tells nobody."""


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

    finalizer: Any
