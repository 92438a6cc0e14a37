"""The units under examples/systemd: their commands and settings exist, systemd accepts them, and they run as they stand."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path

import httpx

from admin.access.passwords import hash_password
from host.edge.__main__ import _options
from host.settings import SETTINGS, load
from tests.e2e.stack import START_WITHIN_S
from tests.host.rest.servers import free_port
from tests.needs import needs
from tests.programs import end, start

ROOT = Path(__file__).resolve().parents[2]
FOLDER = ROOT / "examples" / "systemd"
UNITS = sorted(FOLDER.glob("*.service"))
COMMON = FOLDER / "stanchion-.service.d" / "common.conf"
INSTALLED, ETC = "/opt/stanchion/.venv/bin/", "/etc/stanchion/"
SECRETS = {"STANCHION_SIGNING_KEYS": "k1:" + "A" * 43, "UPSTASH_REDIS_REST_TOKEN": "rest-token-of-the-units",
           "STANCHION_ADMIN_TOKEN": "admin-token-of-the-units",
           "STANCHION_ADMIN_PASSWORD_HASH": hash_password("a password of the units")}  # fmt: skip


def lines(path: Path, name: str) -> list[str]:
    return re.findall(rf"^{name}=(.*)$", path.read_text(encoding="utf-8"), re.MULTILINE)


def environment_of(path: Path) -> dict[str, str]:
    pairs = (line.partition("=") for line in path.read_text(encoding="utf-8").splitlines() if line and not line.startswith("#"))
    return {name: value for name, _, value in pairs}


def given() -> dict[str, str]:
    """What systemd would give a part: the common file's values, then the two files in /etc."""
    fixed = {name: value for name, _, value in (line.partition("=") for line in lines(COMMON, "Environment"))}
    files = [FOLDER / file.removeprefix(ETC) for file in lines(COMMON, "EnvironmentFile")]
    assert [file.name for file in files] == ["stanchion.env", "secrets.env"]
    return fixed | environment_of(files[0]) | environment_of(files[1])


def command(unit: Path) -> list[str]:
    (text,) = lines(unit, "ExecStart")
    program, *arguments = text.split()
    assert program.startswith(INSTALLED)
    return [str(Path(sys.executable).with_name(program.removeprefix(INSTALLED))), *arguments]


def test_every_setting_exists_and_has_a_value_that_it_may_have() -> None:
    assert set(given()) <= {setting.name for setting in SETTINGS}
    load(given() | SECRETS)
    assert {name for name, value in given().items() if not value} == set(SECRETS)


def test_there_is_a_unit_for_each_part() -> None:
    assert {unit.stem for unit in UNITS} == {"stanchion-edge", "stanchion-rest", "stanchion-admin", "stanchion-apply"}
    for unit in UNITS:
        assert Path(command(unit)[0]).exists(), unit.name
        named = re.findall(r"stanchion-\w+\.service", unit.read_text())
        assert {name for name in named if not (FOLDER / name).exists()} == set()
    assert _options(command(FOLDER / "stanchion-edge.service")[3:]).workers == "2"


def test_only_the_edge_may_make_machine_code() -> None:
    assert {unit.stem for unit in UNITS if "yes" not in lines(unit, "MemoryDenyWriteExecute")} == {"stanchion-edge"}


def test_systemd_accepts_them(tmp_path: Path) -> None:
    program = needs("systemd")
    shutil.copytree(FOLDER, tmp_path / "units")
    for unit in (tmp_path / "units").glob("*.service"):
        unit.write_text(unit.read_text().replace(INSTALLED, str(Path(sys.executable).parent) + "/"))
    units = [str(unit) for unit in (tmp_path / "units").glob("*.service")]
    run = subprocess.run([program, "verify", "--man=no", *units], capture_output=True, text=True, timeout=60)
    assert [line for line in (run.stdout + run.stderr).splitlines() if "stanchion" in line] == []
    assert run.returncode == 0, run.stderr


@contextmanager
def running(unit: str, environ: Mapping[str, str], folder: Path, url: str) -> Iterator[None]:
    """A part as its unit starts it, once it answers at `url`."""
    process = start(command(FOLDER / f"{unit}.service"), cwd=folder, env=environ, stdout=subprocess.DEVNULL)
    try:
        deadline = time.monotonic() + START_WITHIN_S
        while not _answers(url):
            assert process.poll() is None, f"{unit} ended with {process.returncode}"
            assert time.monotonic() < deadline, f"{unit} does not answer"
            time.sleep(0.1)
        yield
    finally:
        end(process)


def _answers(url: str) -> bool:
    try:
        return httpx.get(url, timeout=2).status_code < 500
    except httpx.HTTPError:
        return False


def test_they_run_as_they_stand(tmp_path: Path) -> None:
    """Rest, apply, edge and admin by the units' own commands, with the files' own settings but for ports, paths and secrets."""
    edge, rest, admin = free_port(), free_port(), free_port()
    (tmp_path / "kv").mkdir()
    environ = {name: value for name, value in os.environ.items() if not name.startswith(("STANCHION_", "UPSTASH_"))}
    environ |= given() | SECRETS | {
        "STANCHION_EDGE_PORT": str(edge), "STANCHION_REDIS_PORT": str(rest), "STANCHION_ADMIN_PORT": str(admin),
        "STANCHION_KV_DIR": str(tmp_path / "kv"), "STANCHION_ADMIN_DIR": str(tmp_path / "admin"),
        "STANCHION_CACHE_DIR": str(ROOT / ".cache"), "STANCHION_REDIS_URL": "",
    }  # fmt: skip
    apply = [part.replace(f"{ETC}queues.json", str(ROOT / "kv-seed" / "config.json")) for part in
             command(FOLDER / "stanchion-apply.service")]  # fmt: skip
    with running("stanchion-rest", environ, tmp_path, f"http://127.0.0.1:{rest}/.stanchion/rest/health"):
        done = subprocess.run(apply, cwd=tmp_path, env=environ, capture_output=True, text=True, timeout=60)
        assert (done.returncode, "created" in done.stdout) == (0, True), done.stderr
        with (
            running("stanchion-edge", environ, tmp_path, f"http://127.0.0.1:{edge}/.stanchion/health"),
            running("stanchion-admin", environ, tmp_path, f"http://127.0.0.1:{admin}/healthz"),
        ):
            held = httpx.get(f"http://127.0.0.1:{edge}/drop/", headers={"accept": "text/html"}, timeout=10)
            assert (held.status_code, "no-store" in held.headers["cache-control"]) == (503, True)
            queues = httpx.get(f"http://127.0.0.1:{admin}/api/v1/queues", timeout=10,
                               headers={"authorization": f"Bearer {SECRETS['STANCHION_ADMIN_TOKEN']}"})  # fmt: skip
            assert queues.is_success
