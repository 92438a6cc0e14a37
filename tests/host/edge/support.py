"""Starts the edge as the process that it is, with a scripted gate, and waits until it answers."""

from __future__ import annotations

import base64
import json
import os
import queue
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from host.component.build import ROOT, build_component
from tests.programs import end, start

GUEST = Path(__file__).parents[1] / "component" / "guest"
CACHE = ROOT / ".cache"
SIGNING_KEYS = "k1:" + base64.urlsafe_b64encode(b"0123456789abcdef0123456789abcdef").decode()
TOKEN = "test-token"
START_TIMEOUT_S = 60.0
STOP_TIMEOUT_S = 15.0


def scripted_component() -> Path:
    """The component of `tests/host/component/guest`, built once."""
    return build_component("guest.app", [GUEST], CACHE / "component")


class RunningEdge:
    """An edge process. `url` and `port` are where it answers; `lines` is what it has logged so far."""

    def __init__(self, process: subprocess.Popen[str], workers: int) -> None:
        self.process = process
        self.lines: list[dict[str, Any]] = []
        self.stderr = ""
        self.url = ""
        self.port = 0
        self._news: queue.Queue[dict[str, Any] | None] = queue.Queue()
        self._readers = [
            threading.Thread(target=self._read_log, daemon=True),
            threading.Thread(target=self._read_errors, daemon=True),
        ]
        for reader in self._readers:
            reader.start()
        self._wait_ready(workers)

    def _read_log(self) -> None:
        assert self.process.stdout is not None
        for text in self.process.stdout:
            line = json.loads(text)
            self.lines.append(line)
            self._news.put(line)
        self._news.put(None)

    def _read_errors(self) -> None:
        assert self.process.stderr is not None
        for text in self.process.stderr:
            self.stderr += text

    def _wait_ready(self, workers: int) -> None:
        deadline_s = time.monotonic() + START_TIMEOUT_S
        ready = 0
        while ready < workers:
            line = self._news.get(timeout=max(0.1, deadline_s - time.monotonic()))
            if line is None:
                self.process.wait(STOP_TIMEOUT_S)
                raise AssertionError(f"the edge ended with {self.process.returncode}: {self.stderr}")
            if line["event"] == "edge.ready":
                ready += 1
                self.url = line["url"]
                self.port = int(self.url.rpartition(":")[2])

    def events(self, name: str) -> list[dict[str, Any]]:
        """The log lines of one kind."""
        return [line for line in self.lines if line["event"] == name]

    def wait_for_line(self, name: str, **fields: object) -> dict[str, Any]:
        """The last log line of one kind with these fields, as soon as there is one."""

        def found() -> list[dict[str, Any]]:
            return [line for line in self.events(name) if all(line.get(key) == fields[key] for key in fields)]

        wait_until(lambda: bool(found()), f"a log line {name} with {fields}")
        return found()[-1]

    def stop(self, number: int = signal.SIGTERM) -> int:
        """Sends a signal; answers the exit code."""
        if self.process.poll() is None:
            self.process.send_signal(number)
        code = self.process.wait(STOP_TIMEOUT_S)
        for reader in self._readers:
            reader.join(STOP_TIMEOUT_S)
        return code


def edge_environ(settings: Mapping[str, str]) -> dict[str, str]:
    """The environment of an edge process: `settings` over defaults that fit a test."""
    defaults = {
        "STANCHION_EDGE_PORT": "0",
        "STANCHION_SIGNING_KEYS": SIGNING_KEYS,
        "UPSTASH_REDIS_REST_TOKEN": TOKEN,
        "STANCHION_CACHE_DIR": str(CACHE),
        "STANCHION_KV_DIR": str(GUEST),
    }
    clean = {
        name: value for name, value in os.environ.items() if not name.startswith(("STANCHION_", "UPSTASH_"))
    }
    environ = clean | defaults | dict(settings)
    if "STANCHION_COMPONENT" not in environ:
        environ["STANCHION_COMPONENT"] = str(scripted_component())
    return environ


@contextmanager
def start_edge(settings: Mapping[str, str]) -> Iterator[RunningEdge]:
    """An edge with `settings` over the defaults of `edge_environ`; it answers when the block begins.

    Without STANCHION_COMPONENT it runs the scripted gate; "" builds and runs the product's own.
    """
    workers = int(settings.get("STANCHION_WORKERS", "1"))
    process = start(
        [sys.executable, "-m", "host.edge"],
        cwd=ROOT,
        env=edge_environ(settings),
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    edge = None
    try:
        edge = RunningEdge(process, workers)
        yield edge
    finally:
        try:
            if edge is not None:
                edge.stop()
        finally:
            end(process)


def run_edge(settings: Mapping[str, str], *arguments: str) -> subprocess.CompletedProcess[str]:
    """An edge that is expected to end by itself."""
    command = [sys.executable, "-m", "host.edge", *arguments]
    return subprocess.run(
        command, cwd=ROOT, env=edge_environ(settings), capture_output=True, text=True, timeout=START_TIMEOUT_S
    )


def wait_until(true: Callable[[], bool], what: str, timeout_s: float = 10.0) -> None:
    """Returns as soon as `true()` is; fails after `timeout_s`."""
    deadline_s = time.monotonic() + timeout_s
    while not true():
        assert time.monotonic() < deadline_s, f"waited {timeout_s} s in vain for {what}"
        time.sleep(0.01)


def script(*steps: str) -> str:
    """The header line that tells the scripted gate its steps."""
    return f"X-Script: {json.dumps(steps)}"


def concluding(text: str) -> str:
    """The header line that tells the scripted gate its conclusion."""
    return f"X-Conclude: {json.dumps(text)}"


def batch(*commands: list[str], shared: str = "", name: str = "b") -> str:
    """A step of commands; `shared` is a key and an age in ms."""
    head = ["commands", f"name: {name}", *([f"shared: {shared}"] if shared else [])]
    return "\n".join([*head, "", json.dumps(commands)])
