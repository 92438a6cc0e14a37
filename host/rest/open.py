"""From STANCHION_REDIS_URL to a backend.

    (empty)                                      embedded: fakeredis with Lua in this process, forgotten at its end
    redis://[[user]:password@]host:port[/db]     one server; rediss:// with TLS; unix:///path for a socket
    redis+cluster://[[user]:password@]host:port  a Redis Cluster, found through this node; rediss+cluster:// with TLS
    redis://host:port,host:port,...              the same, found through any of these
    redis://host:port?cluster=true               the same

Query options are those of redis-py's connections (`ssl_cert_reqs`, `ssl_ca_certs`, `client_name`, ...). Time limits
and the protocol version are ours, whatever the URL says.
"""

from __future__ import annotations

from typing import Any
from urllib.parse import urlsplit

from redis.asyncio.connection import AbstractConnection, Connection, parse_url

from host.rest.backend import Backend
from host.rest.cluster import ClusterBackend
from host.rest.embedded import EmbeddedBackend
from host.rest.node import Node, connection_options
from host.rest.single import SingleBackend
from host.rest.topology import Topology

_FORMS = "expected redis://[[user]:password@]host:port[/db], rediss://, redis+cluster:// or unix:///path"


class BadRedisUrl(ValueError):
    """STANCHION_REDIS_URL cannot be used. The text does not repeat the URL, which may hold a password."""


def open_backend(url: str) -> Backend:
    """The backend that the URL names; no connection is made yet. Raises BadRedisUrl."""
    if not url.strip():
        return EmbeddedBackend()
    scheme, _, rest = url.strip().partition("://")
    plain_scheme = scheme.removesuffix("+cluster")
    all_options = [_options(f"{plain_scheme}://{one}") for one in _one_host_each(rest)]
    seeds = [(each.get("host") or "localhost", int(each.get("port") or 6379)) for each in all_options]
    options = all_options[0]
    wants_cluster = scheme != plain_scheme or len(seeds) > 1 or _is_true(options.pop("cluster", ""))
    connection_class: type[AbstractConnection] = options.pop("connection_class", Connection)
    options.pop("max_connections", None)
    options = connection_options(options)
    _try_out(connection_class, options)
    if not wants_cluster:
        host, port = seeds[0]
        return SingleBackend(Node(options.get("path", f"{host}:{port}"), connection_class, options))
    if options.get("db") or "path" in options:
        raise BadRedisUrl("STANCHION_REDIS_URL: a cluster has database 0 only and is reached over TCP")
    return ClusterBackend(Topology(seeds, connection_class, options))


def _one_host_each(rest: str) -> list[str]:
    """`user:pw@a:1,b:2/0?x` as `user:pw@a:1/0?x` and `user:pw@b:2/0?x`."""
    end = next((index for index, letter in enumerate(rest) if letter in "/?"), len(rest))
    login, at, hosts = rest[:end].rpartition("@")
    return [f"{login}{at}{host}{rest[end:]}" for host in hosts.split(",")]


def _options(url: str) -> dict[str, Any]:
    try:
        options: dict[str, Any] = dict(parse_url(url))
        path = urlsplit(url).path.strip("/")
    except ValueError:
        # The reason is left out: it quotes parts of the URL.
        raise BadRedisUrl(f"STANCHION_REDIS_URL is not a Redis URL: {_FORMS}") from None
    if "path" not in options and path and not path.isdigit():
        raise BadRedisUrl("STANCHION_REDIS_URL: after host:port/ there must be the number of a database")
    return options


def _try_out(connection_class: type[AbstractConnection], options: dict[str, Any]) -> None:
    """Makes a connection object, without connecting: redis-py tells unknown options and unreadable files here."""
    try:
        connection_class(**options)
    except TypeError:
        raise BadRedisUrl("STANCHION_REDIS_URL has a query option that redis-py does not know") from None
    except Exception as error:
        reason = type(error).__name__
        raise BadRedisUrl(f"STANCHION_REDIS_URL has a query option that cannot be used ({reason})") from None


def _is_true(value: object) -> bool:
    return str(value).lower() in ("1", "true", "yes")
