"""What Fastly says about its own API, operation by operation: the description that its generated client carries.

Source of every row: the package `fastly` of the version that pyproject.toml pins, module `fastly.api.<module>`, operation
`<operation>`. It is generated from Fastly's OpenAPI document, of which https://www.fastly.com/documentation/reference/api/ is
the page for people. A call that no row describes, or not so, is a fault of ours.
"""

from __future__ import annotations

import importlib
import json
import re
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from typing import Any
from urllib.parse import parse_qsl

from fastly.api_client import ApiClient

#: method, path, module, operation.
ROWS: tuple[tuple[str, str, str, str], ...] = (
    ("GET", "/tokens/self", "tokens_api", "get_token_current"),
    ("GET", "/service", "service_api", "list_services"),
    ("POST", "/service", "service_api", "create_service"),
    ("GET", "/service/{service_id}", "service_api", "get_service"),
    ("GET", "/service/{service_id}/version", "version_api", "list_service_versions"),
    ("PUT", "/service/{service_id}/version/{version_id}", "version_api", "update_service_version"),
    ("PUT", "/service/{service_id}/version/{version_id}/clone", "version_api", "clone_service_version"),
    ("GET", "/service/{service_id}/version/{version_id}/validate", "version_api", "validate_service_version"),
    ("PUT", "/service/{service_id}/version/{version_id}/activate", "version_api", "activate_service_version"),
    ("GET", "/service/{service_id}/version/{version_id}/domain", "domain_api", "list_domains"),
    ("POST", "/service/{service_id}/version/{version_id}/domain", "domain_api", "create_domain"),
    ("GET", "/service/{service_id}/version/{version_id}/backend", "backend_api", "list_backends"),
    ("POST", "/service/{service_id}/version/{version_id}/backend", "backend_api", "create_backend"),
    ("PUT", "/service/{service_id}/version/{version_id}/backend/{backend_name}", "backend_api", "update_backend"),
    ("GET", "/service/{service_id}/version/{version_id}/resource", "resource_api", "list_resources"),
    ("POST", "/service/{service_id}/version/{version_id}/resource", "resource_api", "create_resource"),
    ("PUT", "/service/{service_id}/version/{version_id}/resource/{id}", "resource_api", "update_resource"),
    ("PUT", "/service/{service_id}/version/{version_id}/package", "package_api", "put_package"),
    ("GET", "/resources/stores/kv", "kv_store_api", "kv_store_list"),
    ("POST", "/resources/stores/kv", "kv_store_api", "kv_store_create"),
    ("GET", "/resources/stores/kv/{store_id}/keys", "kv_store_item_api", "kv_store_list_item_keys"),
    ("GET", "/resources/stores/kv/{store_id}/keys/{key}", "kv_store_item_api", "kv_store_get_item"),
    ("PUT", "/resources/stores/kv/{store_id}/keys/{key}", "kv_store_item_api", "kv_store_upsert_item"),
    ("DELETE", "/resources/stores/kv/{store_id}/keys/{key}", "kv_store_item_api", "kv_store_delete_item"),
    ("GET", "/resources/stores/secret", "secret_store_api", "get_secret_stores"),
    ("POST", "/resources/stores/secret", "secret_store_api", "create_secret_store"),
    ("GET", "/resources/stores/secret/{store_id}/secrets", "secret_store_item_api", "get_secrets"),
    ("PUT", "/resources/stores/secret/{store_id}/secrets", "secret_store_item_api", "recreate_secret"),
    ("GET", "/resources/stores/config", "config_store_api", "list_config_stores"),
    ("POST", "/resources/stores/config", "config_store_api", "create_config_store"),
    ("GET", "/resources/stores/config/{config_store_id}/items", "config_store_item_api", "list_config_store_items"),
    ("PUT", "/resources/stores/config/{config_store_id}/item/{config_store_item_key}", "config_store_item_api",
     "upsert_config_store_item"),
)  # fmt: skip
_BOOLEANS = ("true", "false", "1", "0")


@dataclass(frozen=True)
class Operation:
    """One row with its description."""

    name: str
    method: str
    path: str
    described: Any

    def match(self, method: str, path: str) -> dict[str, str] | None:
        """The values of the path's names, or None when this is another operation. Each is one segment, as it was sent."""
        pattern = re.sub(r"\{(\w+)\}", r"(?P<\1>[^/]+)", self.path)
        found = re.fullmatch(pattern, path) if method == self.method else None
        return found.groupdict() if found else None

    def faults(self, query: Mapping[str, str], content_type: str, body: bytes) -> list[str]:
        """What about a request does not fit the description."""
        found = [f"{self.name}: {fault}" for fault in self._in("query", query)]
        allowed = [kind.partition(";")[0] for kind in self.described.headers_map["content_type"]]
        kind = content_type.partition(";")[0]
        if body and kind not in allowed:
            return [*found, f"{self.name}: the body is {kind!r}; described: {allowed or 'none'}"]
        if kind == "application/x-www-form-urlencoded":
            found += self._in("form", dict(parse_qsl(body.decode(), keep_blank_values=True, strict_parsing=True)))
        elif kind == "application/json":
            found += self._json_faults(json.loads(body))
        elif kind == "multipart/form-data":
            names = re.findall(rb'name="(\w+)"', body[:2000])
            found += [f"{self.name}: no file {name!r} is described" for name in names if name.decode() not in self._names("form")]
        return found

    def _names(self, place: str) -> dict[str, str]:
        """Names as they are sent -> names of the description."""
        described = self.described
        return {described.attribute_map[name]: name for name, where in described.location_map.items() if where == place}

    def _in(self, place: str, given: Mapping[str, str]) -> list[str]:
        names, found = self._names(place), []
        for sent, value in given.items():
            if sent not in names:
                found.append(f"no {place} parameter {sent!r} is described")
                continue
            kinds = self.described.openapi_types[names[sent]]
            if not any(_fits(kind, value) for kind in kinds):
                found.append(f"{sent}={value!r} is none of {kinds}")
            choices = self.described.allowed_values.get((names[sent],))
            if choices and value not in choices.values():
                found.append(f"{sent}={value!r} is none of {list(choices.values())}")
        return found

    def _json_faults(self, given: Mapping[str, Any]) -> list[str]:
        ((name, _),) = [(name, where) for name, where in self.described.location_map.items() if where == "body"]
        model = self.described.openapi_types[name][0]
        types = {model.attribute_map[field]: kinds for field, kinds in model.openapi_types.items()}
        return [f"{self.name}: {field}={value!r} is not described" for field, value in given.items()
                if field not in types or not isinstance(value, types[field])]  # fmt: skip


def _fits(kind: Any, value: str) -> bool:
    if kind is bool:
        return value in _BOOLEANS
    if kind is int:
        return value.isdigit()
    return kind is str


@cache
def operations() -> tuple[Operation, ...]:
    """Every row with its description."""
    client, found = ApiClient(), []
    for method, path, module, operation in ROWS:
        loaded = importlib.import_module(f"fastly.api.{module}")
        kind = next(value for name, value in vars(loaded).items() if name.endswith("Api") and isinstance(value, type))
        found.append(Operation(operation, method, path, getattr(kind(client), f"{operation}_endpoint")))
    return tuple(found)
