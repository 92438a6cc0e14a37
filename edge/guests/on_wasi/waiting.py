"""Deadlines, and streams that are read and written within them.

The timeouts of the platform are options that hosts may ignore, so every wait here has a timer of its own beside it.
"""

from __future__ import annotations

import time
from typing import Any

from edge.guests.on_wasi.api import Err, monotonic_clock, poll, streams

PIECE_BYTES = 65_536
# What blocking-write-and-flush of wasi:io takes at most is 4096 bytes; check-write says how many a plain write may have.
_NS_PER_MS = 1_000_000


class Late(Exception):
    """The deadline has passed."""


class Broken(Exception):
    """The stream ended before its end."""


class Deadline:
    """A moment by the monotonic clock. It has one timer, however often something is waited for."""

    def __init__(self, budget_ms: int) -> None:
        self._at_ns = time.monotonic_ns() + budget_ms * _NS_PER_MS
        self._timer: Any = None

    def left_ms(self) -> int:
        """What is left of it, never below zero."""
        return max(0, (self._at_ns - time.monotonic_ns()) // _NS_PER_MS)

    def wait_for(self, promise: Any) -> None:
        """Waits for what has a `subscribe` and is not there yet. Raises Late."""
        if self._timer is None:
            self._timer = monotonic_clock.subscribe_instant(self._at_ns)
        with promise.subscribe() as pollable:
            if 0 not in poll.poll([pollable, self._timer]):
                raise Late


def _wait(pollable: Any, wait_ms: int) -> None:
    with monotonic_clock.subscribe_duration(wait_ms * _NS_PER_MS) as timer:
        if 0 not in poll.poll([pollable, timer]):
            raise Late


def is_end(error: Err[Any]) -> bool:
    """Whether a stream's error is its end."""
    return isinstance(error.value, streams.StreamError_Closed)


def read_all(stream: Any, deadline: Deadline) -> bytes:
    """The rest of an input stream. Raises Late or Broken."""
    pieces: list[bytes] = []
    while True:
        try:
            piece = stream.read(PIECE_BYTES)
        except Err as error:
            if is_end(error):
                return b"".join(pieces)
            raise Broken from error
        if piece:
            pieces.append(piece)
        else:
            deadline.wait_for(stream)


def write_all(stream: Any, data: bytes, deadline: Deadline) -> None:
    """Writes everything. Raises Late, or Broken when nobody takes it any more."""
    try:
        while data:
            room = stream.check_write()
            if room:
                stream.write(data[:room])
                data = data[room:]
            else:
                deadline.wait_for(stream)
    except Err as error:
        raise Broken from error
    try:
        stream.flush()
    except Err as error:
        # Whoever has as many bytes as were promised may have closed the stream by now.
        if not is_end(error):
            raise Broken from error


def pump(source: Any, sink: Any, silence_ms: int) -> None:
    """Moves everything from one stream to the other outside of the sandbox; `silence_ms`: between two pieces.

    Returns at the end of either. Raises Late, or Broken when the source broke off.
    """
    while True:
        with source.subscribe() as pollable:
            if not pollable.ready():
                _wait(pollable, silence_ms)
        try:
            sink.blocking_splice(source, PIECE_BYTES)
        except Err as error:
            if is_end(error):
                return
            raise Broken from error
