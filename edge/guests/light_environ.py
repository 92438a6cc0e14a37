"""The environment with less bookkeeping: the runtime of the component puts each variable into `os.environ` when a request begins.

That encodes it, hands it to the C library, and keeps it as bytes. Here the variables are kept as they come.
"""

from __future__ import annotations

import os

#: What the host has told, once a request has begun; `os.environ` stays empty.
told: dict[str, str] = {}


def install() -> None:
    """For the whole sandbox. What was there while the component was built is forgotten."""
    told.clear()
    type(os.environ).__setitem__ = _keep  # type: ignore[method-assign]


def _keep(self: object, name: str, value: str) -> None:
    told[name] = value
