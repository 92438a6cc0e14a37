"""From STANCHION_REDIS_URL to a backend.

    (empty)                                       embedded: fakeredis with Lua inside this process, nothing is
    kept at its end redis://[[user]:password@]host:port[/db]      one server; rediss:// with TLS; unix:///path
    for a socket redis+cluster://[[user]:password@]host:port   a Redis Cluster, found through this one node;
    rediss+cluster:// with TLS redis://host:port?cluster=true                the same

Query options are those of redis-py's connection URLs (`ssl_cert_reqs`, `ssl_ca_certs`, `client_name`, ...).
"""

from __future__ import annotations

from typing import Any

from redis.asyncio.connection import AbstractConnection, Connection, parse_url

from host.rest.backend import Backend
from host.rest.cluster import ClusterBackend
from host.rest.embedded import EmbeddedBackend
from host.rest.node import Node, connection_options
from host.rest.single import SingleBackend
from host.rest.topology import Topology


class BadRedisUrl(ValueError):
    """STANCHION_REDIS_URL cannot be used. The text does not repeat the URL, which may hold a password."""


def open_backend(url: str) -> Backend:
    """The backend that the URL names; no connection is made yet. Raises BadRedisUrl."""
    if not url.strip():
        return EmbeddedBackend()
    scheme, separator, rest = url.strip().partition("://")
    plain_scheme = scheme.removesuffix("+cluster")
    try:
        options: dict[str, Any] = dict(parse_url(plain_scheme + separator + rest))
    except ValueError as error:
        raise BadRedisUrl(f"STANCHION_REDIS_URL: {error}") from None
    wants_cluster = str(options.pop("cluster", "")).lower() in ("1", "true", "yes") or scheme != plain_scheme
    connection_class: type[AbstractConnection] = options.pop("connection_class", Connection)
    options.pop("max_connections", None)
    options = connection_options(options)
    host, port = options.get("host") or "localhost", int(options.get("port") or 6379)
    if not wants_cluster:
        node = Node(options.get("path", f"{host}:{port}"), connection_class, options)
        return SingleBackend(node)
    if options.get("db") or "path" in options:
        raise BadRedisUrl("STANCHION_REDIS_URL: a cluster has database 0 only and is reached over TCP")
    return ClusterBackend(Topology(host, port, connection_class, options))
