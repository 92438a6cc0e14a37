"""The double of Fastly's platform (`tests/double`): the really compiled component under wasmtime, in this process."""

from __future__ import annotations

from contextlib import ExitStack
from pathlib import Path

from tests.conformance.host import Host, Limit, Site
from tests.conformance.hosts.viceroy import secrets_of, settings_of
from tests.double.engine import host
from tests.double.message import Backend
from tests.double.platform import Platform
from tests.double.server import Server, serving
from tests.needs import needs

LIMITS = {
    "last_configuration": Limit("it is known once somebody has asked while it was good; the suite asks nothing in between"),
    "many": Limit("it makes an instance of the component for each request in one process of Python", runs=False),
    "upgrade": Limit("WebSockets are tunnelled", runs=False),
}


class Double(Host):
    """Its stores are read where they lie, so what is published is in force at once."""

    server: Server

    def __init__(self) -> None:
        super().__init__("double", LIMITS, step_in_force_s=1.2, publish_in_force_s=0.0)
        self.platform = Platform()
        self._running: ExitStack | None = None

    def start(self, site: Site) -> None:
        self.platform.settings = settings_of(site) | {"STANCHION_RATE_COUNTER": "places"}
        self.platform.secrets = secrets_of(site)
        self.platform.backends = {"origin": Backend(site.origin_url), "redis": Backend(site.rest_url)}
        self.find_store(site)
        self._running = ExitStack()
        self.server = self._running.enter_context(serving(Server(self.port, host(), self.platform, site.client_header)))
        self.port = self.server.server_address[1]

    def lose_store(self, site: Site) -> None:
        self.platform.kv = None

    def find_store(self, site: Site) -> None:
        self.platform.kv = lambda key: _read(site.kv / key)

    def stop(self) -> None:
        if self._running is not None:
            self._running.close()
            self._running = None

    def log(self) -> str:
        return "\n".join(self.platform.log)


def _read(path: Path) -> bytes | None:
    return path.read_bytes() if path.exists() else None


def make() -> Host:
    """The double, where the component can be built."""
    needs("fastly-python")
    return Double()
