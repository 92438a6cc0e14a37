"""What rendering may cost. Whoever writes a template may loop, nest and multiply; none of it may hang or fill the machine."""

from __future__ import annotations

import signal
from collections.abc import Iterator
from contextlib import contextmanager
from types import FrameType
from typing import Any

from jinja2.runtime import Context
from jinja2.sandbox import ImmutableSandboxedEnvironment

#: Of one rendered page, before it is compressed. The shipped ones have 60 KB.
PAGE_MAX_CHARS = 400_000
#: Of one file of a brand that goes into every page: half of it, so that the fault is the file's and not the page's.
FILE_MAX_CHARS = PAGE_MAX_CHARS // 2
#: Of one page, on a machine that is busy; it takes about 10 ms.
PAGE_MAX_S = 10.0
#: Of everything that is asked for at once: 273 pages take about 4 s.
JOB_MAX_S = 120.0
#: Of the process that renders. It needs about a quarter.
MEMORY_MAX_BYTES = 768 * 1024 * 1024
_PRODUCT_MAX_LENGTH = 1_000_000
_POWER_MAX_BITS = 4096


class TooMuchError(Exception):
    """A template asks for more than a page may cost. The text says of what."""


class Sandbox(ImmutableSandboxedEnvironment):
    """Jinja's sandbox, in which products and powers are bounded, too: one such step can take all memory, or never end."""

    intercepted_binops = frozenset({"*", "**"})

    def call_binop(self, context: Context, operator: str, left: Any, right: Any) -> Any:
        """The product or power. Raises TooMuchError for one that is too large."""
        if operator == "**":
            if isinstance(left, int) and isinstance(right, int) and left.bit_length() * abs(right) > _POWER_MAX_BITS:
                raise TooMuchError("a power of more than 4,096 bits")
        elif isinstance(left, int) and isinstance(right, int):
            if left.bit_length() + right.bit_length() > _POWER_MAX_BITS:
                raise TooMuchError("a product of more than 4,096 bits")
        else:
            for many, times in ((left, right), (right, left)):
                if isinstance(times, int) and hasattr(many, "__len__") and len(many) * times > _PRODUCT_MAX_LENGTH:
                    raise TooMuchError(f"a text or list repeated {times:,} times: at most {_PRODUCT_MAX_LENGTH:,} items in all")
        return super().call_binop(context, operator, left, right)


@contextmanager
def time_limit(seconds: float) -> Iterator[None]:
    """Raises TimeoutError within the block when it takes longer; 0: never. For the main thread of a process that only renders."""
    if not seconds or not hasattr(signal, "setitimer"):
        yield
        return
    before = signal.signal(signal.SIGALRM, _out_of_time)
    # Again and again: the first one may be caught by somebody who catches everything.
    signal.setitimer(signal.ITIMER_REAL, seconds, 0.5)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)


def limit_memory() -> None:
    """Bounds this process, where the system can: beyond it there is a MemoryError."""
    try:
        import resource
    except ImportError:  # not a Unix
        return
    for what, most in ((resource.RLIMIT_AS, MEMORY_MAX_BYTES), (resource.RLIMIT_CORE, 0)):
        hard = resource.getrlimit(what)[1]
        soft = most if hard == resource.RLIM_INFINITY else min(most, hard)
        try:
            resource.setrlimit(what, (soft, hard))
        except (ValueError, OSError):
            continue  # systems that know the limit and do not take it


def _out_of_time(number: int, frame: FrameType | None) -> None:
    raise TimeoutError
