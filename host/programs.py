"""Programs that are ended with all that they started: each leads a session, and so a process group, of its own.

A program that is ended by its process id alone leaves behind what it started: npm its scripts, `jco serve` its server.
"""

from __future__ import annotations

import contextlib
import os
import signal
import subprocess
import time
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

#: How long a program has for a clean stop.
STOP_WITHIN_S = 10.0
#: How long what it left behind has, after it.
REST_WITHIN_S = 0.5
_LOOK_EVERY_S = 0.02


def run(command: Sequence[str], *, timeout_s: float, cwd: Path | None = None,
        env: Mapping[str, str] | None = None) -> subprocess.CompletedProcess[str]:  # fmt: skip
    """What a program printed, once it has ended. Nothing that it started outlives it, nor the time, nor an interruption.

    Raises OSError when it cannot be started, subprocess.TimeoutExpired.
    """
    with subprocess.Popen(command, cwd=cwd, env=env, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                          text=True, errors="replace", start_new_session=True) as process:  # fmt: skip
        try:
            out, err = process.communicate(timeout=timeout_s)
        finally:
            kill_group(process)
    return subprocess.CompletedProcess(command, process.returncode, out, err)


def end(process: subprocess.Popen[Any], first: signal.Signals = signal.SIGTERM, within_s: float = STOP_WITHIN_S) -> int:
    """Ends a program that leads its own session, and what it started; returns its exit code.

    The program is asked first, by the signal `first`, so that it can end its own children in order. What is left of the group
    then is asked by SIGTERM, and killed after REST_WITHIN_S. All is killed when the program takes longer than `within_s`.
    """
    try:
        if process.poll() is None:
            process.send_signal(first)
            with contextlib.suppress(subprocess.TimeoutExpired):
                process.wait(within_s)
        if process.poll() is not None and _signal_group(process, signal.SIGTERM):
            _wait_gone(process)
    finally:
        kill_group(process)
        code = process.wait()
        for stream in (process.stdin, process.stdout, process.stderr):
            if stream is not None:
                stream.close()
    return code


def kill_group(process: subprocess.Popen[Any]) -> None:
    """Kills what lives of a program that leads its own session, and of what it started."""
    _signal_group(process, signal.SIGKILL)


def _wait_gone(process: subprocess.Popen[Any]) -> None:
    deadline_s = time.monotonic() + REST_WITHIN_S
    while time.monotonic() < deadline_s and _signal_group(process, None):
        time.sleep(_LOOK_EVERY_S)


def _signal_group(process: subprocess.Popen[Any], number: signal.Signals | None) -> bool:
    """Signals all of the group (None: nobody); whether there was anybody in it."""
    # The number of a group that has members is given to nobody: a process that has it after ours was reaped is a stranger.
    if process.returncode is not None and _is_there(os.kill, process.pid, 0):
        return False
    return _is_there(os.killpg, process.pid, number or 0)


def _is_there(ask: Callable[[int, int], None], pid: int, number: int) -> bool:
    try:
        ask(pid, number)
    except (ProcessLookupError, PermissionError):
        return False
    return True
