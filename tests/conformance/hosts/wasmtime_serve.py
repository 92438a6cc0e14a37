"""`wasmtime serve`: the wasi:http component under wasmtime's own server, each instance a node of its own."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from tests.conformance.host import Host, Limit, Site, clean_environ
from tests.conformance.hosts.wasi import component, guest_environ
from tests.host.rest.servers import free_port
from tests.needs import needs

# Without reuse every request would be a node's first one: it would ask Redis for configuration and snapshot each time.
REUSE = ("--max-instance-reuse-count", "100000", "--idle-instance-timeout", "60s")
# Wasmtime's own room of 1,000 is used up by some 70 requests under way.
ROOM = ("-O", "pooling-total-core-instances=5000", "-O", "pooling-total-tables=5000")
# What is above waits to be accepted; without this bound it gets a bare 500 as soon as the room is used up.
AT_ONCE = ("--max-concurrent-connections", "340")
#: Of core instances, and of tables, for one instance of the component.
PARTS = 14
LIMITS = {
    "memory": Limit("each instance is a node of its own, and the host chooses which one gets a request", runs=False),
    "upgrade": Limit("the headers of an upgrade never reach the guest, so the request is passed on without them"),
}


@dataclass
class WasmtimeHost(Host):
    """One process; an instance for each request that is under way at the same time. It is lent the folder of the KV store."""

    publish_in_force_s: float = 1.2
    at_once: Sequence[str] = AT_ONCE
    room: Sequence[str] = ROOM

    def start(self, site: Site) -> None:
        program, port = needs("wasmtime"), free_port()
        environ = guest_environ(site) | {"STANCHION_KV_DIR": "/site/kv"}
        # By name alone: a value on the command line could be read by everybody on the machine.
        settings = [word for name in environ for word in ("--env", name)]
        command = [program, "serve", "-S", "cli", *self.room, *self.at_once, *REUSE, "--addr", f"127.0.0.1:{port}",
                   "--dir", f"{site.folder}::/site", "--no-logging-prefix", *settings]  # fmt: skip
        self.run([*command, self.component or component()], site, clean_environ() | environ, port)


def make() -> Host:
    """Wasmtime where it is installed."""
    return WasmtimeHost("wasmtime", LIMITS)
