"""Viceroy, Fastly's own local host: the component for Fastly Compute; its stores are read from a manifest when it starts."""

from __future__ import annotations

import json
import os
from pathlib import Path

from host.fastly.build import build_fastly
from tests.conformance.host import CACHE, Host, Limit, Site, clean_environ
from tests.host.rest.servers import free_port
from tests.needs import needs

# How long a sandbox waits for another request. With 0 each serves one, so none can count for itself either.
REUSE_MS = os.environ.get("STANCHION_CONFORMANCE_REUSE_MS", "0")
LIMITS = {
    "last_configuration": Limit("its stores change by a restart only, which forgets everything"),
    "upgrade": Limit("WebSockets are tunnelled", runs=False),
} | ({"rate_counter": Limit("its edge rate counters count nothing")} if REUSE_MS == "0" else {})


def settings_of(site: Site) -> dict[str, str]:
    """The settings item of the config store."""
    return {
        "UPSTASH_REDIS_REST_URL": site.rest_url,
        "STANCHION_REDIS_FLAVOUR": "redis",
        "STANCHION_COUNTRY_HEADER": site.country_header,
        "STANCHION_COUNTRY_TRUST_ALL": "1",
        "STANCHION_SANDBOX_REUSE_MS": REUSE_MS,
    }


def secrets_of(site: Site) -> dict[str, str]:
    """The secret store, by the names that `stanchion deploy fastly` gives."""
    words = {f"lane.{queue}": secret for queue, secret in site.words.items()}
    return {"signing-keys": site.signing_keys, "redis-rest-token": site.rest_token} | words


def _item(key: str, kind: str, value: str) -> str:
    return f"  {{key = {json.dumps(key)}, {kind} = {json.dumps(value)}}},\n"


def manifest(site: Site, *, has_kv: bool = True) -> str:
    """A manifest with the surroundings of one site. JSON texts are TOML strings too."""
    files = [path for path in sorted(site.kv.rglob("*")) if path.is_file()] if has_kv else []
    items = "".join(_item(path.relative_to(site.kv).as_posix(), "file", str(path)) for path in files)
    kv = f"[local_server.kv_stores]\nstanchion-kv = [\n{items}]\n" if has_kv else ""
    lines = "".join(_item(key, "data", value) for key, value in secrets_of(site).items())
    return f"""manifest_version = 3
name = "stanchion"
language = "other"
[local_server.backends]
origin = {{url = {json.dumps(site.origin_url)}}}
redis = {{url = {json.dumps(site.rest_url)}}}
{kv}[local_server.secret_stores]
stanchion-secret = [
{lines}]
[local_server.config_stores.stanchion-config]
format = "inline-toml"
[local_server.config_stores.stanchion-config.contents]
settings = {json.dumps(json.dumps(settings_of(site)))}
"""


class Viceroy(Host):
    """Restarted whenever its stores change."""

    def __init__(self, program: str, component: Path) -> None:
        super().__init__("viceroy", LIMITS, step_in_force_s=2.0, publish_in_force_s=0.0)
        self._program, self.component = program, component

    def start(self, site: Site) -> None:
        self._start(site, has_kv=True)

    def _start(self, site: Site, *, has_kv: bool) -> None:
        # The address stays the same over restarts: visitors keep theirs.
        port = self.port or free_port()
        path = site.folder / "viceroy.toml"
        path.write_text(manifest(site, has_kv=has_kv))
        assert self.component is not None
        command: list[str | Path] = [self._program, "serve", "--addr", f"127.0.0.1:{port}", "-C", path, self.component]
        self.run(command, site, clean_environ(), port)

    def publish(self, site: Site) -> None:
        if self.process is not None:
            self.stop()
            self._start(site, has_kv=True)

    def lose_store(self, site: Site) -> None:
        self.stop()
        self._start(site, has_kv=False)

    def find_store(self, site: Site) -> None:
        self.publish(site)


def make() -> Host:
    """Viceroy where it is installed."""
    needs("fastly-python")
    return Viceroy(needs("viceroy"), build_fastly(CACHE))


