"""What the suite has to know about a host: how it starts and stops, where its own store is, and what it cannot do."""

from __future__ import annotations

import os
import shutil
import subprocess
import time
from collections.abc import Container, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

import httpx

from tests.programs import end, start

ROOT = Path(__file__).resolve().parents[2]
CACHE = ROOT / ".cache"
START_WITHIN_S = 240.0
STOP_WITHIN_S = 20.0
LOG_SHOWN = 3000


@dataclass(frozen=True)
class Site:
    """What an edge is started with. `kv` is a folder with `config.json` and `pages/`; a host with another store copies it."""

    folder: Path
    kv: Path
    rest_url: str
    rest_token: str
    origin_url: str
    signing_keys: str
    # The suite sends these as a trusted proxy would; it connects from 127.0.0.1.
    country_header: str = "x-country"
    client_header: str = "x-forwarded-for"
    # By queue: what the site signs its word about visitors with.
    words: Mapping[str, str] = field(default_factory=lambda: {"vouch": "v" * 32, "account": "a" * 32})

    @property
    def lane_secrets(self) -> str:
        """The same as the setting STANCHION_LANE_SECRETS."""
        return " ".join(f"{queue}={secret}" for queue, secret in self.words.items())


@dataclass(frozen=True)
class Limit:
    """Something of the contract that a host cannot do. `runs`: whether the test may be tried at all, and has to fail then."""

    reason: str
    runs: bool = True


@dataclass
class Host:
    """An edge under test. `limits`: by the names that tests give with `@limited(...)`; the rest of the contract must hold."""

    name: str
    limits: Mapping[str, Limit] = field(default_factory=dict)
    # How soon an operator's step, and a change in the store, are in force.
    step_in_force_s: float = 1.0
    publish_in_force_s: float = 1.0
    # How long Redis must have been away for the queue's word on it to count.
    away_after_s: float = 6.0
    # Whether configuration and pages are lost when Redis loses everything.
    store_is_in_redis: bool = False
    # Another component in the place of the gate's, for measuring.
    component: Path | None = None
    port: int = 0
    process: subprocess.Popen[str] | None = None
    log_path: Path | None = None

    def start(self, site: Site) -> None:
        """Starts the edge; returns once it answers. `port` is then where."""
        raise NotImplementedError

    def publish(self, site: Site) -> None:
        """Brings what is in `site.kv` into the host's own store."""

    def lose_store(self, site: Site) -> None:
        """The store of configuration and pages cannot be read from now on."""
        site.kv.rename(site.kv.with_suffix(".away"))

    def find_store(self, site: Site) -> None:
        """Undoes `lose_store`."""
        site.kv.with_suffix(".away").rename(site.kv)

    def stop(self) -> None:
        """Ends the edge, and what it started."""
        process, self.process = self.process, None
        if process is not None:
            end(process, within_s=STOP_WITHIN_S)

    def restart(self, site: Site, *, signing_keys: str) -> Site:
        """The edge again, with other keys."""
        self.stop()
        changed = replace(site, signing_keys=signing_keys)
        self.start(changed)
        return changed

    def log(self) -> str:
        """All that the edge printed."""
        return self.log_path.read_text(errors="replace") if self.log_path and self.log_path.exists() else ""

    def run(self, command: Sequence[str | Path], site: Site, environ: Mapping[str, str], port: int,
            is_healthy: Container[int] = (200,)) -> None:  # fmt: skip
        """Runs a program as the edge, and waits until its health path answers so on `port`. One that does not is stopped."""
        self.port, self.log_path = port, site.folder / f"{self.name}.log"
        with self.log_path.open("a") as log:
            self.process = start(command, cwd=ROOT, env=environ, stdout=log, stderr=subprocess.STDOUT)
        try:
            self._wait_up(self.process, is_healthy)
        except BaseException:
            self.stop()
            raise

    def _wait_up(self, process: subprocess.Popen[str], is_healthy: Container[int]) -> None:
        deadline = time.monotonic() + START_WITHIN_S
        while not self._answers(is_healthy):
            told = self.log()[-LOG_SHOWN:]
            assert process.poll() is None, f"{self.name} ended with {process.returncode}:\n{told}"
            assert time.monotonic() < deadline, f"{self.name} is not up after {START_WITHIN_S} s:\n{told}"
            time.sleep(0.1)

    def _answers(self, is_healthy: Container[int]) -> bool:
        try:
            return httpx.get(f"http://127.0.0.1:{self.port}/.stanchion/health", timeout=5).status_code in is_healthy
        except httpx.HTTPError:
            return False


def clean_environ() -> dict[str, str]:
    """The environment of this process without any setting of the product."""
    return {name: value for name, value in os.environ.items() if not name.startswith(("STANCHION_", "UPSTASH_"))}


def empty_folder(path: Path) -> Path:
    """The folder, new and empty."""
    shutil.rmtree(path, ignore_errors=True)
    path.mkdir(parents=True)
    return path
