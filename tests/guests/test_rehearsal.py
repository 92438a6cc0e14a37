"""A host that is played: the bindings' own functions run, and nothing leaves the sandbox. Stand-ins for what only it has."""

from __future__ import annotations

import os
import sys
import types
from typing import Any

import pytest

from edge.guests import light_environ, light_handles
from edge.guests.rehearsal import handle, playing


class Request:
    """As the bindings write a resource with a constructor."""

    def __init__(self, size: int) -> None:
        made = runtime().call_import(47, [size])
        self.handle = made.handle

    def method(self, text: str) -> object:
        return runtime().call_import(48, [self, text])


def runtime() -> Any:
    return sys.modules["componentize_py_runtime"]


@pytest.fixture(autouse=True)
def outside(monkeypatch: pytest.MonkeyPatch) -> list[tuple[int, list[Any]]]:
    """The way out of the sandbox; what went there."""
    went: list[tuple[int, list[Any]]] = []
    module = types.ModuleType("componentize_py_runtime")
    module.call_import = lambda number, given: went.append((number, given)) or handle(Request)  # type: ignore[attr-defined]
    monkeypatch.setitem(sys.modules, "componentize_py_runtime", module)
    return went


def test_functions_answer_by_their_names_and_the_way_out_is_open_again(outside: list[tuple[int, list[Any]]]) -> None:
    with playing({"Request.__init__": lambda size: handle(Request), "Request.method": lambda request, text: text * 2}):
        assert Request(3).method("ab") == "abab"
        with pytest.raises(KeyError, match="test_functions"):
            runtime().call_import(1, [])
    assert outside == []
    Request(3)
    assert outside == [(47, [3])]


def test_a_way_out_is_open_again_after_an_error() -> None:
    before = runtime().call_import
    with pytest.raises(OSError, match="full"), playing({}):
        raise OSError("full")
    assert runtime().call_import is before


def test_a_handle_is_made_by_one_call(outside: list[tuple[int, list[Any]]]) -> None:
    make = light_handles.maker(Request, None)
    assert outside == [], "finding out the number calls nothing"
    made = make([5])
    assert isinstance(made, Request)
    assert outside == [(47, [5])]
    with playing({"Request.__init__": lambda size: size}):
        assert make([7]) == 7, "it is played under the name of what it stands for"


def test_variables_are_kept_as_they_come(monkeypatch: pytest.MonkeyPatch) -> None:
    kind = type(os.environ)
    monkeypatch.setattr(kind, "__setitem__", kind.__setitem__)
    light_environ.install()
    os.environ["STANCHION_X_Y"] = "a b"
    assert light_environ.told == {"STANCHION_X_Y": "a b"}
    assert "STANCHION_X_Y" not in os.environ
    light_environ.install()
    assert light_environ.told == {}
