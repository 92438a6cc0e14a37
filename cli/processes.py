"""Child processes as one thing: started in order, watched, stopped together. Only processes that were started here are ended."""

from __future__ import annotations

import signal
import socket
import subprocess
import sys
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from types import FrameType

import httpx

from host.programs import kill_group

# The first start compiles the component to machine code: ten seconds, more on a busy machine.
READY_WITHIN_S = 120.0
STOP_WITHIN_S = 8.0
PROBE_TIMEOUT_S = 2.0


#: What ends a run beside Ctrl-C; SIGHUP comes when its terminal is closed.
ENDING_SIGNALS = tuple(getattr(signal, name) for name in ("SIGTERM", "SIGHUP") if hasattr(signal, name))


def handle(handler: Callable[[int, FrameType | None], None], *numbers: signal.Signals) -> None:
    """Sets a handler for signals, apart from a SIGHUP that whoever started us wants ignored, as nohup does.

    SIGINT is handled even so: a shell that starts us in the background ignores it for us, and a stop is a stop.
    """
    for number in numbers:
        if number is signal.SIGINT or signal.getsignal(number) is not signal.SIG_IGN:
            signal.signal(number, handler)


class PartFailed(Exception):
    """A part did not start, or ended by itself. The text names it."""


@dataclass(frozen=True)
class Part:
    """One process: what it is called, the module that runs it, where it listens, and what it answers once it is ready."""

    name: str
    module: str
    host: str
    port: int
    health: str

    @property
    def url(self) -> str:
        """Where it answers, without a path."""
        return f"http://{f'[{self.host}]' if ':' in self.host else self.host}:{self.port}"

    def is_ready(self) -> bool:
        """Whether it answers, whatever it says. A port alone proves little: it is open before anybody is behind it."""
        try:
            httpx.get(self.url + self.health, timeout=PROBE_TIMEOUT_S)
        except httpx.HTTPError:
            return False
        return True


def is_free(host: str, port: int) -> bool:
    """Whether a server could listen there now."""
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    with socket.socket(family) as probe:
        probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            probe.bind((host, port))
        except OSError:
            return False
    return True


class Processes:
    """The running parts."""

    def __init__(self, environ: Mapping[str, str]) -> None:
        self._environ = dict(environ)
        self._running: list[tuple[Part, subprocess.Popen[bytes]]] = []
        self._stopping = False

    def start(self, part: Part, arguments: Sequence[str] = ()) -> None:
        """Starts a part. `wait_ready` says when it answers."""
        # A session of its own: Ctrl-C reaches this process alone, which then stops the others in order.
        # The pipe is never written to: its end tells the part that this process is gone, however it went.
        command = [sys.executable, "-m", "cli.part", part.module, *arguments]
        process = subprocess.Popen(command, env=self._environ, stdin=subprocess.PIPE, start_new_session=True)
        self._running.append((part, process))

    def wait_ready(self) -> None:
        """Returns once every part answers. Raises PartFailed."""
        deadline = time.monotonic() + READY_WITHIN_S
        for part, process in self._running:
            while not part.is_ready():
                if process.poll() is not None:
                    raise PartFailed(f"{part.name} ended with exit code {process.returncode} while starting")
                if time.monotonic() > deadline:
                    raise PartFailed(f"{part.name} does not answer on port {part.port} after {READY_WITHIN_S:.0f} s")
                time.sleep(0.05)

    def watch(self) -> None:
        """Returns when a signal asks to stop. Raises PartFailed when a part ends by itself."""
        handle(self._ask_to_stop, signal.SIGINT, *ENDING_SIGNALS)
        while not self._stopping:
            for part, process in self._running:
                if process.poll() is not None:
                    raise PartFailed(f"{part.name} ended with exit code {process.returncode}")
            time.sleep(0.2)

    def _ask_to_stop(self, number: int, frame: FrameType | None) -> None:
        self._stopping = True

    def stop(self) -> None:
        """Ends all parts, the last one started first; one that does not listen to reason is killed."""
        # A terminal that closes may send its signal twice; the second must not cut this short.
        handle(self._ask_to_stop, signal.SIGINT, *ENDING_SIGNALS)
        for _, process in reversed(self._running):
            if process.poll() is None:
                process.terminate()
        deadline = time.monotonic() + STOP_WITHIN_S
        for _, process in reversed(self._running):
            try:
                process.wait(max(0.1, deadline - time.monotonic()))
            except subprocess.TimeoutExpired:
                kill_group(process)
                process.wait()
            if process.stdin is not None:
                process.stdin.close()
        self._running.clear()
