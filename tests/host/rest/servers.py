"""Real programs for these tests: redis-server, and the door itself as its own process. Each is ended with all that it started."""

from __future__ import annotations

import json
import os
import selectors
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from tests.programs import end, start

REPOSITORY = Path(__file__).parents[3]
TOKEN = "token-for-tests-0123456789"
READ_ONLY_TOKEN = "read-only-token-0123456789"
#: No wait here is longer.
PATIENCE_S = 15.0


def free_port() -> int:
    """A port that was free a moment ago. Below 55000, so that a cluster's bus port (10000 higher) exists too."""
    for _ in range(100):
        with socket.socket() as probe:
            probe.bind(("127.0.0.1", 0))
            port: int = probe.getsockname()[1]
        if port < 55000:
            return port
    raise AssertionError("no free port below 55000")


@dataclass
class RedisServer:
    """A redis-server without persistence, in a folder of its own. It can be killed and started again."""

    program: str
    folder: Path
    port: int
    options: Sequence[str] = ()
    process: subprocess.Popen[bytes] | None = None

    @property
    def url(self) -> str:
        return f"redis://127.0.0.1:{self.port}"

    def start(self) -> None:
        self.process = start(
            [self.program, "--port", str(self.port), "--bind", "127.0.0.1", "--save", "", "--appendonly", "no",
             "--dir", str(self.folder), *self.options],
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
        )  # fmt: skip
        deadline = time.monotonic() + PATIENCE_S
        while self.command("PING") != "+PONG":
            assert self.process.poll() is None, f"redis-server ended with {self.process.returncode}"
            assert time.monotonic() < deadline, "redis-server does not answer"
            time.sleep(0.02)

    def kill(self) -> None:
        assert self.process is not None
        end(self.process, signal.SIGKILL)

    def command(self, *words: str) -> str:
        """The first line of the reply to one command, or what went wrong."""
        request = f"*{len(words)}\r\n" + "".join(f"${len(word)}\r\n{word}\r\n" for word in words)
        try:
            with socket.create_connection(("127.0.0.1", self.port), timeout=PATIENCE_S) as connection:
                connection.sendall(request.encode())
                return connection.makefile("rb").readline().decode().strip()
        except OSError as error:
            return str(error)


@dataclass
class Door:
    """A running `python -m host.rest`."""

    url: str
    backend: str
    process: subprocess.Popen[bytes]


def door_environment(**settings: str) -> dict[str, str]:
    kept = {name: value for name, value in os.environ.items() if not name.startswith(("STANCHION_", "UPSTASH_"))}
    return kept | {"STANCHION_REDIS_PORT": "0", "UPSTASH_REDIS_REST_TOKEN": TOKEN} | settings


@contextmanager
def running_door(redis_url: str = "", stderr: Path | None = None, **settings: str) -> Iterator[Door]:
    """The door over the given Redis (empty: embedded), once it listens."""
    errors = stderr.open("wb") if stderr else subprocess.DEVNULL
    process = start(
        [sys.executable, "-m", "host.rest"],
        cwd=REPOSITORY,
        env=door_environment(STANCHION_REDIS_URL=redis_url, **settings),
        stdout=subprocess.PIPE,
        stderr=errors,
    )
    try:
        line = json.loads(_first_line(process))
        assert line["event"] == "listening"
        yield Door(line["url"], line["backend"], process)
    finally:
        end(process)


def _first_line(process: subprocess.Popen[bytes]) -> bytes:
    assert process.stdout is not None
    with selectors.DefaultSelector() as selector:
        selector.register(process.stdout, selectors.EVENT_READ)
        assert selector.select(PATIENCE_S), "the door does not come up"
    return process.stdout.readline()
