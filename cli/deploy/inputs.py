"""What was given, checked before anything is sent: names, addresses, secrets and their lengths."""

from __future__ import annotations

import ipaddress
import re
from collections.abc import Mapping
from dataclasses import dataclass
from urllib.parse import urlsplit

#: Secret.md of Fastly's client: 64 KB; its Rust SDK: 255 bytes for a name.
SECRET_MAX_BYTES = 64 * 1024
NAME_MAX_CHARACTERS = 255
#: ConfigStoreItem of Fastly's client.
ITEM_MAX_CHARACTERS = 8000
_STORE_NAME = re.compile(r"[A-Za-z0-9_.-]+\Z")
_SERVICE_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9 _.-]{0,99}\Z")
_SERVICE_ID = re.compile(r"[A-Za-z0-9]{10,40}\Z")
_DOMAIN_LABEL = re.compile(r"[A-Za-z0-9_]([A-Za-z0-9_-]{0,61}[A-Za-z0-9])?\Z")

# How long the edge waits, in milliseconds. Those of Redis lie within the guest's own total deadline.
_ORIGIN_WAITS = {"connect_timeout": "2000", "first_byte_timeout": "30000", "between_bytes_timeout": "10000"}
_REDIS_WAITS = {"connect_timeout": "500", "first_byte_timeout": "800", "between_bytes_timeout": "800"}


class InputError(Exception):
    """Something that was given cannot be used. The text says what, why and what is allowed, never a secret."""


@dataclass(frozen=True)
class Backend:
    """A named backend with the fields that this deploy decides; what it leaves out stays as it is."""

    name: str
    fields: Mapping[str, str]


def check_service(name: str, service_id: str) -> None:
    """Raises InputError when a name or id cannot be one of a service."""
    if not _SERVICE_NAME.match(name):
        raise InputError(f"--name {name[:120]!r}: 1 to 100 letters, digits, blanks, '.', '_' and '-', a letter or digit first")
    if service_id and not _SERVICE_ID.match(service_id):
        raise InputError(f"--service-id {service_id[:60]!r}: letters and digits, as Fastly shows it beside the service")


def check_endpoint(url: str) -> None:
    """Raises InputError when the token would travel in the open."""
    parts = urlsplit(url)
    if parts.scheme != "https" and parts.hostname not in ("127.0.0.1", "localhost", "::1"):
        raise InputError(f"FASTLY_API_ENDPOINT: {url} is not https: the token would travel in the open")


def check_store_name(option: str, name: str) -> None:
    """Raises InputError when a store cannot be called so."""
    if not _STORE_NAME.match(name) or len(name) > NAME_MAX_CHARACTERS:
        raise InputError(f"{option} {name[:80]!r}: 1 to {NAME_MAX_CHARACTERS} letters, digits, '.', '_' and '-'")


def check_domain(domain: str) -> None:
    """Raises InputError when this is no host name, or a wildcard for one level."""
    labels = domain.removeprefix("*.").split(".")
    if len(domain) > 253 or len(labels) < 2 or not all(map(_DOMAIN_LABEL.match, labels)):
        raise InputError(f"--domain {domain[:80]!r}: a host name such as shop.example.org")


def check_secret(name: str, value: str, setting: str) -> None:
    """Raises InputError when a secret is missing or too long."""
    if not value:
        raise InputError(f"{setting} is not set; it becomes the secret {name}")
    size_bytes = len(value.encode())
    if size_bytes > SECRET_MAX_BYTES:
        raise InputError(f"{setting} has {size_bytes:,} bytes; a secret of Fastly holds {SECRET_MAX_BYTES:,}")


def origin_backend(name: str, url: str, *, own_host: bool) -> Backend:
    """The site behind the gate. `own_host`: it gets its own name as the Host header, not the visitor's. Raises InputError."""
    host, fields = _address("STANCHION_ORIGIN_URL", url)
    return Backend(name, fields | _ORIGIN_WAITS | {"override_host": host if own_host else ""})


def redis_backend(name: str, url: str) -> Backend:
    """Redis over REST. Raises InputError."""
    host, fields = _address("UPSTASH_REDIS_REST_URL", url)
    if fields["use_ssl"] != "1":
        raise InputError(f"UPSTASH_REDIS_REST_URL: {url} is not https: the token would travel in the open")
    return Backend(name, fields | _REDIS_WAITS | {"override_host": host})


def _address(setting: str, url: str) -> tuple[str, dict[str, str]]:
    """The host and the fields that say where and how to connect."""
    if not url:
        raise InputError(f"{setting} is not set: Fastly has to know where to connect")
    parts = urlsplit(url)
    host = parts.hostname or ""
    port = parts.port or (443 if parts.scheme == "https" else 80)
    _check_reachable(setting, host)
    fields = {"address": host, "port": str(port), "use_ssl": "0"}
    if parts.scheme == "https":
        if ":" in host or host.replace(".", "").isdigit():
            raise InputError(f"{setting}: {url} names an address; https needs a host name to check the certificate against")
        fields |= {"use_ssl": "1", "ssl_check_cert": "1", "ssl_cert_hostname": host, "ssl_sni_hostname": host}
    return host, fields


def _check_reachable(setting: str, host: str) -> None:
    try:
        is_public = ipaddress.ip_address(host).is_global
    except ValueError:
        is_public = "." in host and not host.endswith((".local", ".internal", ".localhost"))
    if not is_public:
        raise InputError(f"{setting}: {host!r} is not on the public internet, so Fastly cannot reach it")
