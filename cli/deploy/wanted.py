"""What the service should be: the package, the environment and the KV folder, taken together and checked."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass

from cli.deploy.inputs import (
    ITEM_MAX_CHARACTERS,
    Backend,
    InputError,
    check_domain,
    check_service,
    check_store_name,
    origin_backend,
    redis_backend,
)
from cli.deploy.package import Package
from cli.deploy.secrets import Secrets, read_secrets
from cli.kv.fastly_kv import LIMITS as KV_LIMITS
from cli.kv.folder import FolderStore
from cli.kv.stores import StoreError
from edge.core.config import CONFIG_KEY, Config, load_config
from edge.core.errors import ConfigError
from host.settings import Settings

#: The item of the config store that holds the guest's settings, as one JSON object.
SETTINGS_ITEM = "settings"
#: What the guest is told of this environment.
GUEST_SETTINGS = (
    "UPSTASH_REDIS_REST_URL", "STANCHION_REDIS_FLAVOUR", "STANCHION_ON_CONFIG_ERROR", "STANCHION_COUNTRY_HEADER",
    "STANCHION_COUNTRY_TRUST_ALL", "STANCHION_SANDBOX_REUSE_MS", "STANCHION_RATE_COUNTER", "STANCHION_LOG_REQUESTS",
)  # fmt: skip
STORE_KINDS = ("kv", "secret", "config")


@dataclass(frozen=True)
class Link:
    """A store of the account (`store`) under the name that the guest opens (`name`). `kind`: one of STORE_KINDS."""

    kind: str
    name: str
    store: str


@dataclass(frozen=True)
class Wanted:
    """All of it. `values` is the KV folder; `items` are those of the config store."""

    service: str
    service_id: str
    domains: tuple[str, ...]
    package: Package
    backends: tuple[Backend, ...]
    links: tuple[Link, ...]
    secrets: Secrets
    items: Mapping[str, str]
    values: Mapping[str, str]
    config: Config

    def store(self, kind: str) -> str | None:
        """The name of the account's store of this kind, or None when the guest opens none."""
        return next((link.store for link in self.links if link.kind == kind), None)


@dataclass(frozen=True)
class Options:
    """What the command line says. An empty store name stands for the service's own."""

    name: str
    service_id: str = ""
    domains: tuple[str, ...] = ()
    stores: Mapping[str, str] | None = None


def wanted(options: Options, package: Package, settings: Settings, folder: FolderStore) -> Wanted:
    """Puts everything together. Raises InputError for the first thing that cannot be."""
    check_service(options.name, options.service_id)
    for domain in options.domains:
        check_domain(domain)
    values, config = _values(folder)
    return Wanted(
        options.name, options.service_id, options.domains, package, _backends(package, settings), _links(options, package),
        read_secrets(package, settings, config), _items(package, settings), values, config,
    )  # fmt: skip


def _links(options: Options, package: Package) -> tuple[Link, ...]:
    setup, given = package.setup, options.stores or {}
    found = []
    for kind, names in zip(STORE_KINDS, (setup.kv_stores, tuple(setup.secret_stores), tuple(setup.config_stores)), strict=True):
        if len(names) > 1:
            raise InputError(f"{package.path}: the guest opens {len(names)} {kind} stores ({', '.join(names)}); give it one")
        for name in names:
            store = given.get(kind) or f"{options.name.replace(' ', '-')}-{kind}"
            check_store_name(f"--{kind}-store", store)
            found.append(Link(kind, name, store))
    if not setup.kv_stores:
        raise InputError(f"{package.path}: its fastly.toml names no KV store, so configuration and pages have no place")
    return tuple(found)


def _backends(package: Package, settings: Settings) -> tuple[Backend, ...]:
    found = []
    for name in package.setup.backends:
        if name == "origin":
            own_host = settings["STANCHION_ORIGIN_HOST"] == "origin"
            found.append(origin_backend(name, settings["STANCHION_ORIGIN_URL"], own_host=own_host))
        elif name == "redis":
            found.append(redis_backend(name, settings["UPSTASH_REDIS_REST_URL"]))
        else:
            raise InputError(f"{package.path}: the guest wants a backend {name!r}; this command knows origin and redis")
    return tuple(found)


def _items(package: Package, settings: Settings) -> dict[str, str]:
    found = {}
    for names in package.setup.config_stores.values():
        for name in names:
            if name != SETTINGS_ITEM:
                raise InputError(f"{package.path}: the guest wants an item {name!r}; this command knows {SETTINGS_ITEM}")
            found[name] = _guest_settings(settings)
    return found


def _guest_settings(settings: Settings) -> str:
    told = {name: settings[name] for name in GUEST_SETTINGS if settings[name]}
    # Nothing that Fastly reaches is on this machine, which is what an empty setting would take for a plain Redis.
    told.setdefault("STANCHION_REDIS_FLAVOUR", "upstash")
    text = json.dumps(told, sort_keys=True)
    if len(text) > ITEM_MAX_CHARACTERS:
        raise InputError(f"the guest's settings have {len(text):,} characters; a config store takes {ITEM_MAX_CHARACTERS:,}")
    return text


def _values(folder: FolderStore) -> tuple[dict[str, str], Config]:
    try:
        folder.refuse_links_out()
        values = {key: text for key in folder.list() if (text := folder.get(key)) is not None}
        for key, text in values.items():
            KV_LIMITS.check(key, text, "Fastly's KV store")
    except StoreError as error:
        raise InputError(str(error)) from error
    if CONFIG_KEY not in values:
        raise InputError(f"{folder.name} has no {CONFIG_KEY}; put one there with `stanchion config apply FILE`")
    try:
        return values, load_config(values[CONFIG_KEY])
    except ConfigError as error:
        raise InputError(f"{folder.name}, {CONFIG_KEY}: {error}; see `stanchion config check`") from error
