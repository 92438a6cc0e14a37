from __future__ import annotations

import ast
import shutil
import tarfile
import tomllib
from pathlib import Path
from typing import Any

import pytest

from cli.deploy.package import read_package
from host.component.build import ROOT, BuildError
from host.fastly import package, toolchain
from host.fastly.build import source_hash

GUEST = ROOT / "edge" / "guests"
MANIFEST = tomllib.loads((ROOT / "fastly.toml").read_text())


def constants(*paths: str) -> dict[str, Any]:
    """The names that a guest's modules give to text: they cannot be imported outside of a sandbox."""
    found = {}
    for path in paths:
        for node in ast.parse((GUEST / path).read_text()).body:
            if isinstance(node, ast.Assign) and isinstance(node.value, ast.Constant | ast.Tuple):
                value = ast.literal_eval(node.value) if _is_literal(node.value) else None
                found |= {target.id: value for target in node.targets if isinstance(target, ast.Name)}
    return found


def _is_literal(node: ast.expr) -> bool:
    return all(isinstance(part, ast.Constant | ast.Tuple | ast.Load) for part in ast.walk(node))


def test_the_manifest_names_what_the_guest_opens() -> None:
    around = constants("on_fastly/surroundings.py")
    backends = [constants(f"on_fastly/{name}.py")["BACKEND"] for name in ("origin", "redis")]
    for section in (MANIFEST["setup"], MANIFEST["local_server"]):
        assert sorted(section["backends"]) == sorted(backends)
        assert list(section["kv_stores"]) == [around["KV_STORE"]]
        assert list(section["secret_stores"]) == [around["SECRET_STORE"]]
        assert list(section["config_stores"]) == [around["CONFIG_STORE"]]
    # A link is told by its name alone, whatever kind of store it leads to.
    assert len({around[f"{kind}_STORE"] for kind in ("KV", "SECRET", "CONFIG")}) == 3
    setup, local = MANIFEST["setup"], MANIFEST["local_server"]
    assert tuple(setup["secret_stores"][around["SECRET_STORE"]]["entries"]) == around["SECRETS"]
    assert tuple(item["key"] for item in local["secret_stores"][around["SECRET_STORE"]]) == around["SECRETS"]
    assert list(setup["config_stores"][around["CONFIG_STORE"]]["items"]) == [around["SETTINGS_ITEM"]]
    assert list(local["config_stores"][around["CONFIG_STORE"]]["contents"]) == [around["SETTINGS_ITEM"]]
    assert list(setup["log_endpoints"]) == [around["LOG_ENDPOINT"]]


def test_the_package_is_what_a_deploy_reads(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    component = tmp_path / "built.wasm"
    component.write_bytes(b"\0asm\x0d\0\x01\0the gate")
    monkeypatch.setattr(package, "build_fastly", lambda cache_dir: component)
    made = package.make_package(tmp_path, tmp_path)
    assert made.package == tmp_path / "pkg" / "stanchion.tar.gz"
    first = made.package.read_bytes()
    with tarfile.open(made.package) as archive:
        assert archive.getnames() == ["stanchion/fastly.toml", "stanchion/bin/main.wasm", "stanchion/sources.sha256"]
    found = read_package(made.package)
    assert found.setup.backends == ("origin", "redis")
    assert (tmp_path / "bin" / "main.wasm").read_bytes() == component.read_bytes()
    assert package.make_package(tmp_path, tmp_path).package.read_bytes() == first, "the same sources, the same bytes"


def test_a_changed_source_is_another_hash(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    before = source_hash()
    assert before == source_hash()
    (tmp_path / "edge").mkdir()
    (tmp_path / "edge" / "x.py").write_text("pass")
    monkeypatch.setattr("host.fastly.build.GATEKEEPER_SOURCES", (tmp_path / "edge",))
    assert source_hash() != before


@pytest.mark.parametrize(("changed", "matters"), [("fastly.py", True), ("rest.py", True), ("wasi_http.py", False)])
def test_only_a_change_of_its_own_parts_is_another_hash(
    changed: str, matters: bool, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    shutil.copytree(ROOT / "edge", tmp_path / "edge", ignore=shutil.ignore_patterns("__pycache__"))
    monkeypatch.setattr("host.fastly.build.GATEKEEPER_SOURCES", (tmp_path / "edge",))
    before = source_hash()
    with (tmp_path / "edge" / "guests" / changed).open("a") as file:
        file.write("# changed\n")
    assert (source_hash() != before) is matters


def test_a_python_that_cannot_build_is_named(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    named = str(tmp_path / "no-python")
    monkeypatch.setenv(toolchain.PYTHON_SETTING, named)
    assert toolchain.find_python({toolchain.PYTHON_SETTING: named}) is None
    with pytest.raises(BuildError, match=rf"STANCHION_FASTLY_PYTHON={named} is no Python .* 3\.12 or newer"):
        toolchain.builder(tmp_path)


def test_without_a_python_that_the_sdk_takes_the_build_says_what_to_do(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.delenv(toolchain.PYTHON_SETTING, raising=False)
    monkeypatch.setattr(toolchain, "find_python", lambda environ: None)
    with pytest.raises(BuildError, match=r"needs Python 3\.12 or newer.*STANCHION_FASTLY_PYTHON=/path"):
        toolchain.builder(tmp_path)
