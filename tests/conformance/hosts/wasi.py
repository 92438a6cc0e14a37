"""What the hosts of wasi:http have in common: the component, its environment, and Redis as the store of configuration."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import httpx

from host.component.build import build_proxy
from tests.conformance.host import CACHE, Host, Site

HASH = "stanchion:kv"


def component() -> Path:
    """The component, built once."""
    return build_proxy(CACHE)


def guest_environ(site: Site) -> dict[str, str]:
    """The environment that the component reads."""
    return {
        "STANCHION_ORIGIN_URL": site.origin_url,
        "STANCHION_SIGNING_KEYS": site.signing_keys,
        "STANCHION_LANE_SECRETS": site.lane_secrets,
        "STANCHION_COUNTRY_HEADER": site.country_header,
        "STANCHION_CLIENT_HEADER": site.client_header,
        "UPSTASH_REDIS_REST_URL": site.rest_url,
        "UPSTASH_REDIS_REST_TOKEN": site.rest_token,
    }


@dataclass
class WasiHost(Host):
    """A host whose configuration and pages are in Redis."""

    publish_in_force_s: float = 1.2
    store_is_in_redis: bool = True

    def publish(self, site: Site) -> None:
        """What `stanchion kv push` does."""
        pairs = [word for path in sorted(site.kv.rglob("*")) if path.is_file()
                 for word in (path.relative_to(site.kv).as_posix(), path.read_text())]  # fmt: skip
        self._redis(site, ["DEL", HASH], ["HSET", HASH, *pairs])

    def lose_store(self, site: Site) -> None:
        """The hash is none any more, so every read of it is an error."""
        self._redis(site, ["DEL", HASH], ["SET", HASH, "x"])

    def find_store(self, site: Site) -> None:
        """Undoes `lose_store`."""
        self.publish(site)

    def _redis(self, site: Site, *commands: list[str]) -> None:
        headers = {"Authorization": f"Bearer {site.rest_token}"}
        answer = httpx.post(f"{site.rest_url}/pipeline", json=list(commands), headers=headers, timeout=20)
        assert answer.is_success, answer.text
        assert not [result for result in answer.json() if "error" in result], answer.text
