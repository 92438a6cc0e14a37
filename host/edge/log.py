"""JSON lines on standard output, written by a thread so that a slow reader never holds up a visitor.

A line carries no client address and no query string: whoever logs here leaves them out.
"""

from __future__ import annotations

import json
import os
import threading
import time
from collections import deque
from collections.abc import Callable

FLUSH_S = 0.05
MAX_WAITING_LINES = 20_000
# POSIX keeps a write up to this size in one piece, so the lines of several workers on one pipe do not mix.
ATOMIC_WRITE_BYTES = 4_096
LIMITED_EVERY_S = 1.0
CLOSE_WAIT_S = 1.0


class JsonLog:
    """One JSON object a line, to file descriptor `fd`. Lines that find no room are dropped and counted."""

    def __init__(self, fd: int = 1, now_s: Callable[[], float] = time.monotonic) -> None:
        self._fd = fd
        self._now_s = now_s
        self._lines: deque[str] = deque()
        # Each counted by one thread alone: the one that logs, and the one that writes.
        self._dropped = 0
        self._dropped_told = 0
        self._limited: dict[str, tuple[float, int]] = {}
        self._closed = threading.Event()
        self._writer = threading.Thread(target=self._write_all, name="log-writer", daemon=True)
        self._writer.start()

    def event(self, name: str, fields: dict[str, object]) -> None:
        """One line now."""
        self._add(_line(name, fields))

    def limited(self, name: str, fields: dict[str, object]) -> None:
        """At most one line of this name each LIMITED_EVERY_S; the next one tells how many were left out."""
        now_s = self._now_s()
        last_s, left_out = self._limited.get(name, (0.0, 0))
        if last_s and now_s - last_s < LIMITED_EVERY_S:
            self._limited[name] = (last_s, left_out + 1)
            return
        self._limited[name] = (now_s, 0)
        self.event(name, {**fields, "left_out": left_out} if left_out else fields)

    def line(self, text: str) -> None:
        """A line of the guest: as it came when it is one JSON object on one line, else wrapped into one."""
        if text.startswith("{") and text.endswith("}") and "\n" not in text and "\r" not in text:
            self._add(text)
        else:
            self.event("gate.log", {"text": text})

    def _add(self, line: str) -> None:
        if len(self._lines) >= MAX_WAITING_LINES:
            self._dropped += 1
        else:
            self._lines.append(line)

    def _write_all(self) -> None:
        while not self._closed.wait(FLUSH_S):
            self._flush()
        self._flush()

    def _flush(self) -> None:
        piece = b""
        dropped = self._dropped - self._dropped_told
        if dropped:
            self._dropped_told += dropped
            piece = _line("log.dropped", {"lines": dropped}).encode() + b"\n"
        while self._lines:
            line = self._lines.popleft().encode("utf-8", "replace") + b"\n"
            if piece and len(piece) + len(line) > ATOMIC_WRITE_BYTES:
                self._write(piece)
                piece = b""
            piece += line
        self._write(piece)

    def _write(self, piece: bytes) -> None:
        try:
            while piece:
                piece = piece[os.write(self._fd, piece) :]
        except OSError:  # the reader is gone; visitors must not notice
            return

    def close(self) -> None:
        """Writes what is waiting and ends the thread."""
        self._closed.set()
        self._writer.join(CLOSE_WAIT_S)


def _line(name: str, fields: dict[str, object]) -> str:
    return json.dumps({"event": name, "at": round(time.time(), 3), **fields}, separators=(",", ":"))
