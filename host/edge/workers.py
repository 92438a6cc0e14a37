"""Several edge processes on one listening socket: started, restarted when one dies, and stopped together.

They share the socket that this process opened: a connection that nobody has taken yet survives the death of
a worker.
"""

from __future__ import annotations

import signal
import socket
import subprocess
import sys
import threading
import time

from host.edge.log import JsonLog

POLL_S = 0.05
# A worker that dies younger than this is restarted later and later.
YOUNG_S = 5.0
FIRST_PAUSE_S = 0.2
LONGEST_PAUSE_S = 10.0
# Longer than the grace that a worker gives its own connections.
STOP_WAIT_S = 6.0


class Worker:
    """One process slot: at most one process at a time."""

    def __init__(self, number: int, command: list[str], fds: tuple[int, ...]) -> None:
        self.number = number
        self._command = command
        self._fds = fds
        self._pause_s = 0.0
        self._start_at_s = 0.0
        self._started_s = 0.0
        self.process: subprocess.Popen[bytes] | None = None

    def tend(self, now_s: float) -> int | None:
        """Starts the process if it is time; answers the exit code of one that has just died."""
        if self.process is None:
            if now_s >= self._start_at_s:
                self.process = subprocess.Popen(self._command, pass_fds=self._fds)
                self._started_s = now_s
            return None
        code = self.process.poll()
        if code is not None:
            self.process = None
            young = now_s - self._started_s < YOUNG_S
            self._pause_s = min(max(self._pause_s * 2, FIRST_PAUSE_S), LONGEST_PAUSE_S) if young else 0.0
            self._start_at_s = now_s + self._pause_s
        return code


def run_workers(count: int, listener: socket.socket, log: JsonLog) -> int:
    """Keeps `count` workers running until SIGTERM or SIGINT; answers the exit code.

    Workers notice the end of this process by the end of a socket pair, even if it is killed.
    """
    ending = threading.Event()
    for number in (signal.SIGTERM, signal.SIGINT):
        signal.signal(number, lambda *_: ending.set())
    ours, theirs = socket.socketpair()
    fds = (listener.fileno(), theirs.fileno())
    command = [sys.executable, "-m", "host.edge", "--worker-fds", f"{fds[0]},{fds[1]}"]
    workers = [Worker(number, command, fds) for number in range(count)]
    while not ending.wait(POLL_S):
        for worker in workers:
            code = worker.tend(time.monotonic())
            if code is not None:
                log.event("edge.worker_died", {"worker": worker.number, "exit_code": code})
    listener.close()
    ours.close()
    return _stop([worker.process for worker in workers if worker.process is not None])


def _stop(processes: list[subprocess.Popen[bytes]]) -> int:
    for process in processes:
        process.terminate()
    deadline_s = time.monotonic() + STOP_WAIT_S
    for process in processes:
        try:
            process.wait(max(0.0, deadline_s - time.monotonic()))
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()
    return 0
