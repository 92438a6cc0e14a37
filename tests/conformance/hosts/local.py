"""The local edge: `python -m host.edge` with the compiled component under wasmtime."""

from __future__ import annotations

import sys

from tests.conformance.host import CACHE, Host, Site, clean_environ
from tests.host.rest.servers import free_port


class LocalHost(Host):
    """One worker; the suite is its trusted proxy."""

    def start(self, site: Site) -> None:
        port = free_port()
        environ = clean_environ() | {
            "STANCHION_EDGE_PORT": str(port),
            "STANCHION_ORIGIN_URL": site.origin_url,
            "STANCHION_KV_DIR": str(site.kv),
            "STANCHION_CACHE_DIR": str(CACHE),
            "STANCHION_SIGNING_KEYS": site.signing_keys,
            "STANCHION_LANE_SECRETS": site.lane_secrets,
            "STANCHION_COUNTRY_HEADER": site.country_header,
            "STANCHION_TRUSTED_PROXIES": "127.0.0.1/32",
            "UPSTASH_REDIS_REST_URL": site.rest_url,
            "UPSTASH_REDIS_REST_TOKEN": site.rest_token,
        }
        if self.component is not None:
            environ["STANCHION_COMPONENT"] = str(self.component)
        self.run([sys.executable, "-m", "host.edge"], site, environ, port)


def make() -> Host:
    """The local edge, which lacks nothing."""
    return LocalHost("local")
