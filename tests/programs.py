"""Programs that tests and measurements start: each ends with all that it started, even when the run itself is killed.

A guard, one small process for each test process, is told of every program. Its standard input ends when the run is gone, however
it went; then it ends what is left.
"""

from __future__ import annotations

import functools
import signal
import subprocess
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from host.programs import STOP_WITHIN_S
from host.programs import end as end_all

# A process id may be in use anew by then: whether it is, tells the time of its start.
_GUARD = """
import os, signal, sys, time
def born(pid):
    try:
        return open(f"/proc/{pid}/stat").read().rpartition(")")[2].split()[19]
    except OSError:
        return None
def tell(number):
    for pid, at in groups.items():
        if born(pid) in (at, None):
            try:
                os.killpg(pid, number)
            except OSError:
                pass
groups = {}
for line in sys.stdin:
    pid = int(line)
    if pid > 0:
        groups[pid] = born(pid)
    else:
        groups.pop(-pid, None)
if groups:
    tell(signal.SIGTERM)
    time.sleep(2)
    tell(signal.SIGKILL)
"""


def start(command: Sequence[str | Path], *, env: Mapping[str, str] | None = None, **options: Any) -> subprocess.Popen[Any]:
    """A program in a session of its own; `end` ends it. `options` are those of subprocess.Popen."""
    guard = _guard()
    process = subprocess.Popen(list(map(str, command)), env=env, start_new_session=True, **options)
    _tell(guard, process.pid)
    return process


def end(process: subprocess.Popen[Any], first: signal.Signals = signal.SIGTERM, within_s: float = STOP_WITHIN_S) -> int:
    """Ends it with all that it started; returns its exit code. It may have ended already. `first`: what it is asked with."""
    try:
        return end_all(process, first, within_s)
    finally:
        _tell(_guard(), -process.pid)


@functools.cache
def _guard() -> subprocess.Popen[str]:
    return subprocess.Popen([sys.executable, "-I", "-S", "-c", _GUARD], stdin=subprocess.PIPE, stdout=subprocess.DEVNULL,
                            stderr=subprocess.DEVNULL, start_new_session=True, text=True)  # fmt: skip


def _tell(guard: subprocess.Popen[str], pid: int) -> None:
    assert guard.stdin is not None
    guard.stdin.write(f"{pid}\n")
    guard.stdin.flush()
