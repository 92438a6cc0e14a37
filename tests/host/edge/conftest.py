"""One edge with a scripted gate, an origin and a store for each test module."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import dataclass

import pytest

from tests.host.edge.support import RunningEdge, start_edge
from tests.host.edge.wire import Handler, Message, RawServer, Stream, always, get, ok, raw_server


@dataclass
class Site:
    """The edge with what is behind it. `settings` are the edge's own."""

    edge: RunningEdge
    origin: RawServer
    store: RawServer

    def get(self, target: str = "/", *fields: str, method: str = "GET", body: bytes = b"") -> Message:
        """One request to the edge."""
        return get(self.edge.port, target, *fields, method=method, body=body)

    def origin_does(self, handler: Handler | bytes) -> None:
        """How the origin answers during this test."""
        self.origin.handler = always(handler) if isinstance(handler, bytes) else handler

    def store_does(self, handler: Handler | bytes) -> None:
        """How the store answers during this test."""
        self.store.handler = always(handler) if isinstance(handler, bytes) else handler


def counting(message: Message, stream: Stream) -> None:
    """A store that answers each command with its name."""
    results = [{"result": command[0]} for command in json.loads(message.body)]
    stream.sock.sendall(ok(json.dumps(results).encode(), "Content-Type: application/json"))


def hello(_: Message, stream: Stream) -> None:
    """An origin that greets."""
    stream.sock.sendall(ok(b"hello", "Content-Type: text/plain"))


@pytest.fixture(scope="module")
def module_site(request: pytest.FixtureRequest) -> Iterator[Site]:
    """An edge with the settings that the module names in SETTINGS."""
    settings: dict[str, str] = getattr(request.module, "SETTINGS", {})
    with raw_server(hello) as origin, raw_server(counting) as store:
        urls = {"STANCHION_ORIGIN_URL": origin.url, "UPSTASH_REDIS_REST_URL": store.url}
        with start_edge(urls | settings) as edge:
            yield Site(edge, origin, store)


@pytest.fixture
def site(module_site: Site) -> Iterator[Site]:
    """The module's edge, with an origin that greets and a store that counts."""
    module_site.origin_does(hello)
    module_site.store_does(counting)
    module_site.origin.requests.clear()
    module_site.store.requests.clear()
    yield module_site
    assert module_site.edge.process.poll() is None, module_site.edge.stderr
    assert module_site.edge.events("edge.fault") == []
