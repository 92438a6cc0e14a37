"""Programs that a measurement starts on free ports of loopback, and ends."""

from __future__ import annotations

import os
import shutil
import socket
import subprocess
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager

from bench.component import ROOT
from tests.programs import end, start

START_WITHIN_S = 60


def free_port() -> int:
    """A port that nobody listens on."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


def redis_command(port: int) -> list[str]:
    """A Redis that keeps nothing on disk."""
    program = shutil.which("redis-server")
    assert program, "needs redis-server: apt-get install redis-server"
    return [program, "--port", str(port), "--bind", "127.0.0.1", "--save", "", "--appendonly", "no"]


@contextmanager
def running(command: Sequence[str], port: int, environ: Mapping[str, str]) -> Iterator[None]:
    """The program, from when it listens on `port` until the end of the block."""
    process = start(command, env=os.environ | environ, cwd=ROOT, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    try:
        _wait(process, port)
        yield
    finally:
        end(process)


def _wait(process: subprocess.Popen[bytes], port: int) -> None:
    deadline = time.monotonic() + START_WITHIN_S
    while time.monotonic() < deadline:
        with socket.socket() as probe:
            if probe.connect_ex(("127.0.0.1", port)) == 0:
                return
        if process.poll() is not None:
            raise RuntimeError(f"{process.args!r} ended with code {process.returncode}")
        time.sleep(0.05)
    raise RuntimeError(f"nothing listens on {port}")
