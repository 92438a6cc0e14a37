"""A sale from beginning to end: a Redis to run on, the run, its figures."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any
from urllib.parse import urlsplit

from edge.core.errors import ConfigError
from sim.figures import figures
from sim.history import Violated
from sim.run import Run
from sim.sale import Sale
from sim.server import Server, ServerError
from sim.store import Store

LOOPBACK = ("127.0.0.1", "localhost", "::1")


class Broken(Exception):
    """A law was broken in a run; `run` and `violated` tell where."""

    def __init__(self, run: Run, violated: Violated) -> None:
        super().__init__(str(violated))
        self.run, self.violated = run, violated


def _port_of(redis_url: str) -> int:
    """The port of a Redis that may be emptied. Raises ServerError for one that is not on this machine."""
    parts = urlsplit(redis_url)
    if parts.scheme != "redis" or parts.hostname not in LOOPBACK or parts.password or parts.path.strip("/"):
        raise ServerError(f"{redis_url!r} is not allowed: redis://127.0.0.1:PORT, a Redis of this machine with nothing in it")
    return parts.port or 6379


@contextmanager
def store_for(sale: Sale, redis_url: str = "") -> Iterator[tuple[Store, Server | None]]:
    """A store on a server of our own, or on an empty one that is named. Raises ServerError."""
    if not redis_url:
        with Server(sale.aof) as server:
            store = Store(server.port)
            yield store, server
            store.close()
        return
    store = Store(_port_of(redis_url))
    if store.run([["DBSIZE"]])[0]:
        raise ServerError(f"{redis_url} holds something already: a sale needs an empty Redis")
    try:
        yield store, None
    finally:
        store.run([["FLUSHALL"]])
        store.close()


def simulate(sale: Sale, redis_url: str = "", progress: Callable[[int], None] = lambda ms: None) -> dict[str, Any]:
    """Runs the sale; answers its figures. Raises Broken, ServerError, ConfigError.

    `progress` hears how many ms of the sale have passed since it was told last.
    """
    if redis_url and any(fault.kind == "kill" for fault in sale.faults):
        raise ConfigError("faults", "kill works on a Redis that the simulation starts itself: leave --redis-url out")
    with store_for(sale, redis_url) as (store, server):
        run = Run(sale, store, server)
        try:
            run.go(progress)
        except Violated as violated:
            raise Broken(run, violated) from violated
        return figures(run)
