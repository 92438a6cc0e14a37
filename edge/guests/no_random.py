"""Python's `random` is out of use in a sandbox: its runtime would seed it anew for each request.

That draws 2,500 bytes and stirs them for as long as a tenth of a poll takes. Randomness comes with the request, from the host;
whatever asks `random` here would get the same in every sandbox, so it gets an error.
"""

from __future__ import annotations

import random


def install() -> None:
    """For the whole sandbox."""
    for name in random.__all__:
        if getattr(getattr(random, name), "__self__", None) is not None:
            setattr(random, name, _refuse)
    random.seed = _seed  # type: ignore[assignment]


def _seed(*arguments: object) -> None:
    """What the runtime calls."""


def _refuse(*arguments: object, **more: object) -> None:
    raise RuntimeError("random is not seeded in a sandbox; use the randomness of the request, or os.urandom")
