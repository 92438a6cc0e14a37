"""The component that takes its configuration from `wasi:keyvalue`, under `wasmtime serve` with its store in memory."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import httpx
import pytest

from host.component.build import build_proxy
from tests.conformance.host import CACHE, Host, Site, clean_environ
from tests.conformance.hosts.wasi import guest_environ
from tests.host.edge.wire import ok, raw_server
from tests.host.rest.servers import free_port
from tests.needs import needs

KEYS = "k1:" + "A" * 43
NOWHERE = "http://127.0.0.1:9"


@contextmanager
def serving(folder: Path, origin_url: str, *data: str) -> Iterator[Host]:
    """The component with these entries in the store, once it answers anything."""
    host = Host("keyvalue")
    site = Site(folder, folder, NOWHERE, "token", origin_url, KEYS)
    port, stored = free_port(), [word for entry in data for word in ("-S", f"keyvalue-in-memory-data={entry}")]
    environ = guest_environ(site)
    settings = [word for name in environ for word in ("--env", name)]
    command = [needs("wasmtime"), "serve", "-S", "cli,keyvalue", *stored, "--addr", f"127.0.0.1:{port}", *settings]
    try:
        host.run([*command, build_proxy(CACHE, keyvalue=True)], site, clean_environ() | environ, port, is_healthy={200, 503})
        yield host
    finally:
        host.stop()


@pytest.mark.parametrize(("data", "status"), [((), 503), (('config.json={"queues":[]}',), 200)])
def test_the_configuration_is_the_stores(tmp_path: Path, data: tuple[str, ...], status: int) -> None:
    with raw_server(ok()) as origin, serving(tmp_path, origin.url, *data) as host:
        assert httpx.get(f"http://127.0.0.1:{host.port}/about", timeout=20).status_code == status
        assert ("is not in the store" in host.log()) is (status == 503)
