"""Building a component: once for each state of its sources, out of nothing else, with clear errors."""

from __future__ import annotations

import os
import sys
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from host.component import __main__ as command
from host.component import build as build_module
from host.component.build import ROOT, BuildError, build_component
from tests.host.edge.support import scripted_component


@pytest.fixture
def no_compiler(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """Replaces the compiler by a note of what it was asked for, so that caching is shown in milliseconds."""
    asked: list[str] = []

    def run(app: str, arguments: list[str], work: Path, empty_venv: Path) -> None:
        asked.append(app)
        time.sleep(0.05)
        Path(arguments[-1]).write_bytes(b"wasm of " + app.encode())

    monkeypatch.setattr(build_module, "_run_compiler", run)
    return asked


def sources(folder: Path, text: str = "x = 1\n") -> Path:
    """A package with one module."""
    package = folder / "thing"
    package.mkdir(exist_ok=True)
    (package / "__init__.py").write_text("")
    (package / "app.py").write_text(text)
    return package


def test_the_second_build_needs_no_compiler(monkeypatch: pytest.MonkeyPatch) -> None:
    first = scripted_component()
    monkeypatch.setattr(build_module, "_run_compiler", None)
    assert scripted_component() == first
    assert first.is_absolute()
    assert first.read_bytes()[:4] == b"\0asm"


def test_a_change_of_any_source_builds_anew(tmp_path: Path, no_compiler: list[str]) -> None:
    package, out = sources(tmp_path), tmp_path / "out"
    first = build_component("thing.app", [package], out)
    assert build_component("thing.app", [package], out) == first
    (package / "app.py").write_text("x = 2\n")
    second = build_component("thing.app", [package], out)
    (package / "script.lua").write_text("return 1")
    third = build_component("thing.app", [package], out)
    (package / "__pycache__").mkdir()
    (package / "__pycache__" / "app.pyc").write_bytes(b"no source")
    assert build_component("thing.app", [package], out) == third
    assert len({first, second, third}) == len(no_compiler) == 3


def test_a_source_that_moves_its_text_to_another_file_builds_anew(
    tmp_path: Path, no_compiler: list[str]
) -> None:
    package = sources(tmp_path)
    first = build_component("thing.app", [package], tmp_path / "out")
    (package / "app.py").rename(package / "other.py")
    assert build_component("thing.app", [package], tmp_path / "out") != first


def test_two_builders_at_once_build_once(tmp_path: Path, no_compiler: list[str]) -> None:
    package = sources(tmp_path)
    with ThreadPoolExecutor(8) as pool:
        built = set(pool.map(lambda _: build_component("thing.app", [package], tmp_path / "out"), range(8)))
    assert len(built) == len(no_compiler) == 1


def test_old_builds_are_removed_and_the_newest_kept(tmp_path: Path, no_compiler: list[str]) -> None:
    package, out = sources(tmp_path), tmp_path / "out"
    kept = build_module.BUILDS_KEPT_PER_APP
    for number in range(kept + 3):
        (package / "app.py").write_text(f"x = {number}\n")
        newest = build_component("thing.app", [package], out)
        os.utime(newest, (number, number))
    left = sorted(out.glob("*.wasm"))
    assert len(left) == kept
    assert newest in left
    assert not list(out.glob("stanchion-build-*"))


def test_a_missing_source_is_named(tmp_path: Path) -> None:
    with pytest.raises(BuildError, match="nowhere"):
        build_component("thing.app", [tmp_path / "nowhere"], tmp_path)


PROBE = """
import importlib.util
names = ("jwt", "thing", "cryptography", "httpx", "wasmtime", "host", "edge", "tests", "leaked")
found = [name for name in names if importlib.util.find_spec(name)]
raise RuntimeError(f"within reach: {found}")
"""


def test_a_failure_shows_the_guests_traceback_and_only_named_sources_and_pyjwt_are_within_reach(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "leak").mkdir()
    (tmp_path / "leak" / "leaked.py").write_text("")
    monkeypatch.setenv("PYTHONPATH", f"{ROOT}:{tmp_path / 'leak'}")
    monkeypatch.setenv("VIRTUAL_ENV", sys.prefix)
    package, out = sources(tmp_path, PROBE), tmp_path / "out"
    with pytest.raises(BuildError) as caught:
        build_component("thing.app", [package], out)
    text = str(caught.value)
    assert text.startswith("cannot build thing.app")
    assert "Traceback" in text
    assert "app.py" in text
    assert "RuntimeError: within reach: ['jwt', 'thing']" in text
    assert not list(out.glob("*.wasm"))
    assert not list(out.glob("stanchion-build-*"))


def test_the_command_prints_path_and_sizes(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    component = tmp_path / "component.wasm"
    component.write_bytes(bytes(3_000_000) + os.urandom(1_000_000))
    monkeypatch.setattr(command, "build_gatekeeper", lambda cache_dir: component)
    assert command.main([]) == 0
    path, sizes = capsys.readouterr().out.splitlines()
    assert path == str(component)
    assert sizes == "4.0 MB, 1.0 MB with gzip"
    assert command.main(["--quiet"]) == 0
    assert capsys.readouterr().out == f"{component}\n"


def test_the_command_says_why_it_cannot(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def fail(cache_dir: Path) -> Path:
        raise BuildError("cannot build: a reason")

    monkeypatch.setattr(command, "build_gatekeeper", fail)
    assert command.main([]) == 1
    assert capsys.readouterr().err == "cannot build: a reason\n"
