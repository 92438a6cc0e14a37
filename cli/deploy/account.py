"""What there is: one look at the account, reading only."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from cli.deploy.api import Api, ApiError, Call
from cli.deploy.wanted import Wanted
from cli.kv.fastly_kv import STORE_PATH, FastlyStore
from cli.kv.stores import StoreError
from edge.core.config import CONFIG_KEY, Config, load_config
from edge.core.errors import ConfigError

STORE_PATHS = {"kv": STORE_PATH, "secret": "/resources/stores/secret", "config": "/resources/stores/config"}
#: The comment of a version that a run has begun and not finished.
UNFINISHED = "stanchion: unfinished"
_NOTE = re.compile(r"stanchion sources=([0-9a-f]{16}) secrets=([0-9a-f]{16})\Z")
SERVICES_PER_PAGE = 100
NO_CONFIG = Config(())


@dataclass(frozen=True)
class Version:
    """A version of the service."""

    number: int
    active: bool
    locked: bool
    comment: str

    @property
    def is_ours(self) -> bool:
        """Whether a deploy made it."""
        return self.comment.startswith("stanchion")

    @property
    def note(self) -> tuple[str, str]:
        """The hashes of sources and secrets that a deploy noted when it had finished the version; empty otherwise."""
        found = _NOTE.match(self.comment)
        return (found[1], found[2]) if found else ("", "")


def note(sources: str, secrets: str) -> str:
    """The comment of a finished version. Both are hashes in hexadecimal."""
    return f"stanchion sources={sources[:16]} secrets={secrets[:16]}"


@dataclass(frozen=True)
class Found:
    """The account, as far as this deploy goes. `base`: the version to start from; None for a service that is yet to be."""

    service_id: str = ""
    base: Version | None = None
    has_active: bool = False
    domains: frozenset[str] = frozenset()
    backends: Mapping[str, Mapping[str, Any]] | None = None
    links: tuple[Mapping[str, Any], ...] = ()
    stores: Mapping[str, str] | None = None
    digests: Mapping[str, str] | None = None
    items: Mapping[str, str] | None = None
    values: Mapping[str, str] | None = None
    config: Config = NO_CONFIG


def check_token(api: Api) -> str:
    """Who the token belongs to. Raises ApiError when it is none, or may not change services."""
    told = api.run(Call("GET", "/tokens/self"), {})
    scopes = str(told.get("scope", "")).split()
    if "global" not in scopes:
        raise ApiError(f"the token of Fastly's API has the scope {' '.join(scopes)!r}; changing a service needs `global`")
    return str(told.get("name") or told.get("id") or "a token")


def look(api: Api, want: Wanted) -> Found:
    """Everything that the plan compares. Raises ApiError."""
    stores = {link.kind: store for link in want.links if (store := _store_id(api, link.kind, link.store))}
    service_id = _service(api, want)
    versions = _versions(api, service_id) if service_id else ()
    base = choose(versions)
    values = _values(api, want) if "kv" in stores else {}
    within = f"/service/{service_id}/version/{base.number}" if base else ""
    return Found(
        service_id,
        base,
        any(version.active for version in versions),
        frozenset(str(domain["name"]) for domain in _list(api, f"{within}/domain")) if base else frozenset(),
        {str(backend["name"]): backend for backend in _list(api, f"{within}/backend")} if base else {},
        tuple(_list(api, f"{within}/resource")) if base else (),
        stores,
        _digests(api, stores["secret"]) if "secret" in stores else {},
        _items(api, stores["config"]) if "config" in stores else {},
        values,
        _config(values),
    )


def choose(versions: Iterable[Version]) -> Version | None:
    """An unfinished version of an earlier run; else the active one; else, before any was active, the newest open one."""
    known = sorted(versions, key=lambda version: version.number)
    active = next((version for version in known if version.active), None)
    begun = [v for v in known if not v.locked and v.is_ours and v.number > (active.number if active else 0)]
    if begun:
        return begun[-1]
    if active:
        return active
    return next((version for version in reversed(known) if not version.locked), known[-1] if known else None)


def _service(api: Api, want: Wanted) -> str:
    if want.service_id:
        found = api.find(f"/service/{want.service_id}")
        if found is None:
            raise ApiError(f"there is no service {want.service_id} that this token may see")
    else:
        found = _by_name(api, want.service)
    if found is None:
        return ""
    if found.get("type") != "wasm":
        what = f"the service {found.get('name')} is not one of Compute (its type is {found.get('type')})"
        raise ApiError(f"{what}; give another name")
    return str(found["id"])


def _by_name(api: Api, name: str) -> Mapping[str, Any] | None:
    found: list[Mapping[str, Any]] = []
    page = 1
    while True:
        services = _list(api, "/service", page=str(page), per_page=str(SERVICES_PER_PAGE))
        found += [service for service in services if service.get("name") == name]
        if len(services) < SERVICES_PER_PAGE:
            break
        page += 1
    if len(found) > 1:
        raise ApiError(f"{len(found)} services are called {name!r}; say which with --service-id")
    return found[0] if found else None


def _versions(api: Api, service_id: str) -> tuple[Version, ...]:
    return tuple(
        Version(int(v["number"]), bool(v.get("active")), bool(v.get("locked")), str(v.get("comment") or ""))
        for v in _list(api, f"/service/{service_id}/version")
    )


def _list(api: Api, path: str, **query: str) -> list[Mapping[str, Any]]:
    found = api.run(Call("GET", path, query=query), {})
    if not isinstance(found, list):
        raise ApiError(f"GET {path} answered no list: {str(found)[:200]}")
    return found


def _store_id(api: Api, kind: str, name: str) -> str | None:
    # Config stores come as a plain list, the other two page by page.
    path = STORE_PATHS[kind]
    stores = _list(api, path, name=name) if kind == "config" else api.pages(path, name=name)
    return next((str(store["id"]) for store in stores if store.get("name") == name), None)


def _digests(api: Api, store: str) -> dict[str, str]:
    secrets = api.pages(f"{STORE_PATHS['secret']}/{store}/secrets")
    return {str(secret["name"]): str(secret.get("digest", "")) for secret in secrets}


def _items(api: Api, store: str) -> dict[str, str]:
    path = f"{STORE_PATHS['config']}/{store}/items"
    return {str(item["item_key"]): str(item.get("item_value", "")) for item in _list(api, path)}


def _values(api: Api, want: Wanted) -> dict[str, str]:
    """What the KV store has under our keys: the others are none of this command's business."""
    try:
        store = FastlyStore(api, want.store("kv") or "")
        there = set(store.list())
        return {key: text for key in want.values if key in there and (text := store.get(key)) is not None}
    except StoreError as error:
        raise ApiError(str(error)) from error


def _config(values: Mapping[str, str]) -> Config:
    if CONFIG_KEY not in values:
        return NO_CONFIG
    try:
        return load_config(values[CONFIG_KEY])
    except ConfigError as error:
        raise ApiError(f"{CONFIG_KEY} in the KV store, which is to be replaced, is broken: {error}; remove it first") from error
