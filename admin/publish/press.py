"""Renders in a process of its own, which is ended when it takes too long and started again at the next job.

So a template that loops, nests or fills the memory harms neither the admin nor the machine. The process stays, because starting
one takes far longer than a page.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import threading
from pathlib import Path
from types import TracebackType
from typing import Any

from admin.publish.errors import PublishError
from admin.publish.limits import JOB_MAX_S

_ROOT = Path(__file__).parents[2]
# All that the process needs to know of ours: no secret is among it.
_PASSED_ON = ("PATH", "SYSTEMROOT", "TMPDIR", "TEMP")


class Press:
    """One process that renders, for any number of threads, one job after the other. `close` ends it; so does `with`."""

    def __init__(self, job_max_s: float = JOB_MAX_S) -> None:
        self._job_max_s = job_max_s
        self._lock = threading.Lock()
        self._process: subprocess.Popen[str] | None = None

    def __enter__(self) -> Press:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
        self.close()

    def close(self) -> None:
        """Ends the process. The next job starts another."""
        with self._lock:
            self._end()

    def stop(self) -> None:
        """Ends the process at once, whatever it is at: the job under way fails. From any thread."""
        process = self._process
        if process is not None:
            process.kill()

    def run(self, brand: str, job: dict[str, Any]) -> dict[str, Any]:
        """The answer of `admin.publish.worker` to a job about a brand. Raises PublishError for a fault, or its end."""
        answer = self.ask(brand, job)
        for fault in answer.get("faults", ()):
            raise PublishError(*fault)
        return answer

    def ask(self, brand: str, job: dict[str, Any]) -> dict[str, Any]:
        """The same with all `faults` in the answer, each as the arguments of a PublishError."""
        with self._lock:
            line, is_late = self._asked(json.dumps(job))
        if is_late:
            raise PublishError(brand, 0, f"rendering takes longer than {self._job_max_s:g} s and was stopped")
        if not line.endswith("\n"):
            raise PublishError(brand, 0, "the process that renders has ended; does a template nest too deep or ask for too much?")
        answer: dict[str, Any] = json.loads(line)
        return answer

    def _asked(self, job: str) -> tuple[str, bool]:
        """The line that comes back, and whether the process was stopped for being late."""
        if self._process is None or self._process.poll() is not None:
            self._end()
            self._process = _started()
        process = self._process
        late = threading.Event()

        def stop() -> None:
            late.set()
            process.kill()

        timer = threading.Timer(self._job_max_s, stop)
        timer.daemon = True
        timer.start()
        try:
            assert process.stdin is not None
            assert process.stdout is not None
            process.stdin.write(job + "\n")
            process.stdin.flush()
            line = process.stdout.readline()
        except BrokenPipeError:
            line = ""
        finally:
            timer.cancel()
        if not line.endswith("\n"):
            self._end()
        return line, late.is_set()

    def _end(self) -> None:
        process, self._process = self._process, None
        if process is None:
            return
        process.kill()
        for stream in (process.stdin, process.stdout):
            if stream is not None:
                try:
                    stream.close()
                except BrokenPipeError:
                    continue
        process.wait()


def _started() -> subprocess.Popen[str]:
    environ = {name: os.environ[name] for name in _PASSED_ON if name in os.environ} | {"PYTHONDONTWRITEBYTECODE": "1"}
    return subprocess.Popen(
        [sys.executable, "-X", "utf8", "-m", "admin.publish.worker"], stdin=subprocess.PIPE, stdout=subprocess.PIPE, cwd=_ROOT,
        env=environ, text=True, encoding="utf-8",
    )  # fmt: skip
