"""A PostgreSQL of the test's own: a cluster in a folder, reached by a socket in it, run by somebody who is not root."""

from __future__ import annotations

import itertools
import os
import pwd
import shutil
import subprocess
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import psycopg

from tests.needs import needs
from tests.programs import end, start

START_TIMEOUT_S = 30.0


@dataclass
class Cluster:
    folder: Path
    numbers: Iterator[int] = field(default_factory=itertools.count)

    def empty(self) -> str:
        """The address of a new, empty database."""
        name = f"d{next(self.numbers)}"
        with psycopg.connect(self._address("postgres"), autocommit=True) as connection:
            connection.execute(f"CREATE DATABASE {name}".encode())
        return f"postgresql://owner@/{name}?host={self.folder}"

    def wait(self) -> None:
        deadline = time.monotonic() + START_TIMEOUT_S
        while True:
            try:
                psycopg.connect(self._address("postgres")).close()
                return
            except psycopg.OperationalError:
                if time.monotonic() > deadline:
                    raise
                time.sleep(0.05)

    def _address(self, name: str) -> str:
        return f"host={self.folder} user=owner dbname={name}"


@contextmanager
def running() -> Iterator[Cluster]:
    """Starts one and throws it away."""
    programs = Path(needs("postgres")).parent
    folder = Path(tempfile.mkdtemp(prefix="stanchion-pg-"))
    who: dict[str, Any] = {}
    if os.geteuid() == 0:
        # PostgreSQL refuses to run as root.
        somebody = pwd.getpwnam("nobody")
        who = {"user": somebody.pw_uid, "group": somebody.pw_gid, "extra_groups": []}
        os.chown(folder, somebody.pw_uid, somebody.pw_gid)
    data = folder / "data"
    try:
        subprocess.run(
            [programs / "initdb", "-D", data, "-U", "owner", "-A", "trust", "-N", "--locale=C", "-E", "UTF8"],
            check=True, capture_output=True, timeout=120, cwd=folder, **who,
        )  # fmt: skip
        options = ["-c", "listen_addresses=", "-c", "fsync=off", "-c", f"unix_socket_directories={folder}"]
        process = start(
            [programs / "postgres", "-D", data, *options], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, cwd=folder, **who
        )
        try:
            cluster = Cluster(folder)
            cluster.wait()
            yield cluster
        finally:
            end(process, within_s=20)
    finally:
        shutil.rmtree(folder, ignore_errors=True)
