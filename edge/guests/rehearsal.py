"""Plays the host while a component is built, so that a guest's own calls of it run before the snapshot of the instance, too.

The bindings stay the real ones, with their classes and handles; only the one function below them, which leaves the sandbox, is
another for a while. There is no host at build time, and one of its functions that is called then would end the build.
"""

from __future__ import annotations

import sys
import weakref
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from functools import partial
from importlib import import_module
from typing import Any

_HANDLE = 1
# What the host answers, by the name of the function as the bindings have it: `Class.method` or `function`, with the name of the
# interface and a dot before it where that is not plain enough.
Replies = Mapping[str, Callable[..., Any]]


def handle(kind: type) -> Any:
    """A handle of the host's, as the bindings make them."""
    made: Any = object.__new__(kind)
    made.handle = _HANDLE
    made.finalizer = weakref.finalize(made, _gone, _HANDLE, _HANDLE)
    return made


def made(kind: type, *arguments: Any) -> Any:
    """The reply of a function that makes a handle."""
    return handle(kind)


def made_well(kind: type | None, *arguments: Any) -> Any:
    """The same of one that might fail; None: it makes nothing."""
    return import_module("componentize_py_types").Ok(handle(kind) if kind else None)


def _gone(kind: int, number: int) -> None:
    """Where the host would be told that a handle is gone."""


@contextmanager
def playing(replies: Replies) -> Iterator[None]:
    """Within, functions of the host answer with `replies`. Raises KeyError in a call of one that has none."""
    runtime: Any = import_module("componentize_py_runtime")
    leaves = runtime.call_import

    def answer(number: int, arguments: list[Any]) -> Any:
        caller = sys._getframe(1)
        name = caller.f_code.co_qualname
        interface = caller.f_globals["__name__"].rpartition(".")[2]
        return (replies.get(f"{interface}.{name}") or replies[name])(*arguments)

    # Not a plain function: the interpreter would adapt the bindings to one, and the real one is written in C.
    runtime.call_import = partial(answer)
    try:
        yield
    finally:
        runtime.call_import = leaves
