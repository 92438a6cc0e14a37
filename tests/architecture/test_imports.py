"""Who may know whom (design.md, section 2), and that the core is pure: read from the sources, so that nothing can hide."""

from __future__ import annotations

import ast
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
ROOMS = ("edge", "host", "admin", "sim", "cli", "bench")
# Modules of the standard library that compute and nothing else.
PURE = {
    "__future__", "base64", "binascii", "bisect", "collections", "contextlib", "dataclasses", "datetime", "enum", "functools",
    "hashlib", "hmac", "ipaddress", "itertools", "json", "math", "operator", "re", "string", "struct", "typing", "unicodedata",
    "urllib.parse",
}  # fmt: skip
# The one stated exception: the texts of the Lua scripts are read when the component is built.
READS_ITS_FILES = Path("edge/core/scripts/__init__.py")
# Ways to the world that need no import.
IMPURE_NAMES = {"open", "exec", "eval", "compile", "__import__", "input", "print", "breakpoint", "globals"}
CLOCKS = {"now", "utcnow", "today", "time", "time_ns", "monotonic", "perf_counter", "urandom", "token_bytes", "token_hex"}
# What each room may import of ours, beside itself.
ALLOWED: dict[str, tuple[str, ...]] = {
    "edge/core": (),
    "edge/guests": ("edge.core",),
    "edge": (),
    "host": (),
    "admin": ("edge.core",),
    "sim": ("edge.core",),
    "cli": ("edge", "host", "admin", "sim"),
    "bench": ("edge", "host", "admin", "sim", "cli"),
}


def sources() -> list[Path]:
    return sorted(path.relative_to(ROOT) for room in ROOMS for path in (ROOT / room).rglob("*.py"))


def imports(path: Path) -> Iterator[str]:
    """The modules that a source imports."""
    return imports_of((ROOT / path).read_text(encoding="utf-8"), list(path.parts[:-1]))


def imports_of(text: str, package: list[str]) -> Iterator[str]:
    """The modules that a text imports, wherever in it, by their full names."""
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            above = package[: len(package) - node.level + 1] if node.level else []
            base = ".".join([*above, *([node.module] if node.module else [])])
            yield base
            yield from (f"{base}.{alias.name}" for alias in node.names if _is_module(f"{base}.{alias.name}"))


def _is_module(name: str) -> bool:
    path = ROOT.joinpath(*name.split("."))
    return path.with_suffix(".py").exists() or (path / "__init__.py").exists()


def room_of(path: Path) -> str:
    return "/".join(path.parts[:2]) if path.parts[0] == "edge" and len(path.parts) > 2 else path.parts[0]


def is_within(name: str, package: str) -> bool:
    return name == package or name.startswith(f"{package}.")


CORE = [path for path in sources() if room_of(path) == "edge/core"]


def test_there_is_something_to_read() -> None:
    assert len(CORE) > 20
    assert READS_ITS_FILES in CORE
    assert {room_of(path) for path in sources()} <= set(ALLOWED)


@pytest.mark.parametrize("path", sources(), ids=str)
def test_each_room_knows_only_whom_it_may(path: Path) -> None:
    room = room_of(path)
    own = room.replace("/", ".")
    for name in imports(path):
        if name.split(".")[0] in ROOMS:
            assert is_within(name, own) or any(is_within(name, other) for other in ALLOWED[room]), f"{path} imports {name}"


@pytest.mark.parametrize("path", CORE, ids=str)
def test_the_core_imports_nothing_that_reaches_the_world(path: Path) -> None:
    allowed = PURE | ({"importlib", "importlib.resources"} if path == READS_ITS_FILES else set())
    for name in imports(path):
        top = name.split(".")[0]
        is_known = name in allowed or top in allowed - {"urllib"} or top == "jwt" or is_within(name, "edge.core")
        assert is_known, f"{path} imports {name}"


@pytest.mark.parametrize("path", CORE, ids=str)
def test_the_core_opens_nothing_and_asks_no_clock(path: Path) -> None:
    for node in ast.walk(ast.parse((ROOT / path).read_text(encoding="utf-8"))):
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Name):
            assert node.func.id not in IMPURE_NAMES, f"{path}:{node.lineno} calls {node.func.id}"
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute):
            assert node.func.attr not in CLOCKS, f"{path}:{node.lineno} calls {node.func.attr}"
        if isinstance(node, ast.Global):
            raise AssertionError(f"{path}:{node.lineno} keeps something between requests in the module")


def test_the_allow_list_is_of_the_standard_library() -> None:
    assert {name.split(".")[0] for name in PURE} <= set(sys.stdlib_module_names)


def test_nobody_in_the_core_imports_in_a_circle() -> None:
    known = {".".join(path.with_suffix("").parts).removesuffix(".__init__"): set(imports(path)) for path in CORE}
    edges = {name: (found & set(known)) - {name, "edge.core"} for name, found in known.items()}

    def walk(name: str, above: tuple[str, ...]) -> None:
        assert name not in above, " -> ".join([*above, name])
        for other in edges[name]:
            walk(other, (*above, name))

    for name in edges:
        walk(name, ())


def test_every_form_of_import_is_seen() -> None:
    text = """
import time, os.path
from edge.core import tokens, no_such_module
from . import decide
from ..guests import crossing
def f():
    import host.edge.app as hidden
"""
    assert set(imports_of(text, ["edge", "core"])) == {
        "time", "os.path", "edge.core", "edge.core.tokens", "edge.core.decide", "edge.guests", "edge.guests.crossing",
        "host.edge.app",
    }  # fmt: skip
