"""A stand-in of Fastly's API on loopback: it holds each request to the description, and keeps what it is told."""

from __future__ import annotations

import base64
import hashlib
import json
import re
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from copy import deepcopy
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any
from urllib.parse import parse_qsl, unquote, urlsplit

from tests.cli.deploy.described import Operation, operations

TOKEN = "fastly-token-of-the-tests"
KEYS_PER_PAGE = 3

Answer = tuple[int, Any]
Headers = dict[str, str]


class Refusal(Exception):
    def __init__(self, status: int, msg: str, detail: str = "", headers: Headers | None = None) -> None:
        super().__init__(msg)
        self.status, self.body, self.headers = status, {"msg": msg, "detail": detail}, headers or {}


class Fastly:
    """One account. `faults`: what was asked against the description. `asked`: every request as `METHOD path`."""

    def __init__(self) -> None:
        self.services: dict[str, dict[str, Any]] = {}
        self.stores: dict[str, dict[str, dict[str, Any]]] = {"kv": {}, "secret": {}, "config": {}}
        self.scope = "global"
        self.faults: list[str] = []
        self.asked: list[str] = []
        #: [pattern of `METHOD path`, how often, status], and headers where they matter.
        self.failing: list[list[Any]] = []
        self.changes_left, self.resets_at = 1000, "4102444800"
        self.url = ""
        self._lock = threading.Lock()
        self._count = 0

    def answer(self, method: str, target: str, token: str, content_type: str, body: bytes) -> tuple[int, Any, Headers]:
        with self._lock:
            parts = urlsplit(target)
            self.asked.append(f"{method} {unquote(parts.path)}")
            limit: Headers = {}
            try:
                if token != TOKEN:
                    raise Refusal(401, "Provided credentials are missing or invalid")
                limit = self._counted(method)
                self._fail_if_told()
                operation, names = self._operation(method, parts.path)
                query = dict(parse_qsl(parts.query, keep_blank_values=True))
                if faults := operation.faults(query, content_type, body):
                    self.faults += faults
                    raise Refusal(400, "Bad request", "; ".join(faults))
                act: Callable[..., Answer] = getattr(self, f"_{operation.name}")
                return *act(Request(names, query, content_type, body)), limit
            except Refusal as refusal:
                return refusal.status, refusal.body, limit | refusal.headers

    def _counted(self, method: str) -> Headers:
        """A change counts for the hour's limit, and its answer says what is left of it and when it starts anew (Unix time)."""
        if method in ("GET", "HEAD"):
            return {}
        limit = {"Fastly-RateLimit-Remaining": str(max(0, self.changes_left - 1)), "Fastly-RateLimit-Reset": self.resets_at}
        if self.changes_left <= 0:
            raise Refusal(429, "You have exceeded your hourly rate limit", headers=limit)
        self.changes_left -= 1
        return limit

    def writes(self) -> list[str]:
        """What was asked beside looking."""
        return [request for request in self.asked if not request.startswith("GET ")]

    def _fail_if_told(self) -> None:
        for failing in self.failing:
            if failing[1] > 0 and re.fullmatch(failing[0], self.asked[-1]):
                failing[1] -= 1
                raise Refusal(failing[2], "Internal trouble" if failing[2] >= 500 else "Refused", headers=dict(*failing[3:]))

    def _operation(self, method: str, path: str) -> tuple[Operation, dict[str, str]]:
        for operation in operations():
            names = operation.match(method, path)
            if names is not None:
                return operation, {name: unquote(value) for name, value in names.items()}
        self.faults.append(f"{method} {path} is not described")
        raise Refusal(404, "Not found", path)

    def _id(self, prefix: str) -> str:
        self._count += 1
        return f"{prefix}{self._count:018d}"

    # Tokens and services

    def _get_token_current(self, request: Request) -> Answer:
        return 200, {"id": "t1", "name": "ci", "scope": self.scope, "services": []}

    def _list_services(self, request: Request) -> Answer:
        page, size = int(request.query.get("page", 1)), int(request.query.get("per_page", 20))
        known = [{name: service[name] for name in ("id", "name", "type")} for service in self.services.values()]
        return 200, known[(page - 1) * size : page * size]

    def _create_service(self, request: Request) -> Answer:
        form = request.form()
        if any(service["name"] == form["name"] for service in self.services.values()):
            raise Refusal(409, "Duplicate record", "Duplicate service: " + form["name"])
        made = {"id": self._id("S"), "name": form["name"], "type": form.get("type", "vcl"), "versions": [_version(1)]}
        self.services[made["id"]] = made
        return 200, {name: made[name] for name in ("id", "name", "type")}

    def _get_service(self, request: Request) -> Answer:
        service = self._service(request)
        return 200, {name: service[name] for name in ("id", "name", "type")}

    def _service(self, request: Request) -> dict[str, Any]:
        if request.names["service_id"] not in self.services:
            raise Refusal(404, "Record not found", "Cannot load service")
        return self.services[request.names["service_id"]]

    # Versions

    def _list_service_versions(self, request: Request) -> Answer:
        return 200, [_seen(version) for version in self._service(request)["versions"]]

    def _version_of(self, request: Request, *, to_edit: bool = False) -> dict[str, Any]:
        for version in self._service(request)["versions"]:
            if str(version["number"]) == request.names["version_id"]:
                # ServiceVersionDetail: objects cannot be added or edited on locked versions.
                if to_edit and version["locked"]:
                    raise Refusal(422, "Version is locked")
                found: dict[str, Any] = version
                return found
        raise Refusal(404, "Record not found", "Cannot load version")

    def _update_service_version(self, request: Request) -> Answer:
        version = self._version_of(request, to_edit=True)
        version["comment"] = request.form()["comment"]
        return 200, _seen(version)

    def _clone_service_version(self, request: Request) -> Answer:
        versions = self._service(request)["versions"]
        made = deepcopy(self._version_of(request)) | {"number": len(versions) + 1, "active": False, "locked": False}
        versions.append(made)
        return 200, _seen(made)

    def _validate_service_version(self, request: Request) -> Answer:
        missing = [what for what in ("domains", "package") if not self._version_of(request)[what]]
        return 200, {"status": "error", "msg": f"Version has no {missing[0]}"} if missing else {"status": "ok", "msg": None}

    def _activate_service_version(self, request: Request) -> Answer:
        if self._validate_service_version(request)[1]["status"] != "ok":
            raise Refusal(400, "Version cannot be activated")
        for version in self._service(request)["versions"]:
            version["active"] = False
        version = self._version_of(request)
        version["active"] = version["locked"] = True
        return 200, _seen(version)

    # What is in a version

    def _list_domains(self, request: Request) -> Answer:
        return 200, [{"name": name} for name in self._version_of(request)["domains"]]

    def _create_domain(self, request: Request) -> Answer:
        domains = self._version_of(request, to_edit=True)["domains"]
        if (name := request.form()["name"]) in domains:
            raise Refusal(409, "Duplicate record")
        domains.append(name)
        return 200, {"name": name}

    def _list_backends(self, request: Request) -> Answer:
        return 200, list(self._version_of(request)["backends"].values())

    def _create_backend(self, request: Request) -> Answer:
        backends, form = self._version_of(request, to_edit=True)["backends"], request.form()
        if form["name"] in backends:
            raise Refusal(409, "Duplicate record")
        backends[form["name"]] = {"use_ssl": False, "override_host": None} | _typed(form)
        return 200, backends[form["name"]]

    def _update_backend(self, request: Request) -> Answer:
        backend = self._version_of(request, to_edit=True)["backends"].get(request.names["backend_name"])
        if backend is None:
            raise Refusal(404, "Record not found")
        backend |= _typed(request.form())
        return 200, backend

    def _list_resources(self, request: Request) -> Answer:
        return 200, self._version_of(request)["links"]

    def _create_resource(self, request: Request) -> Answer:
        form = request.form()
        made = form | {"id": self._id("L"), "resource_type": self._type_of(form["resource_id"])}
        self._version_of(request, to_edit=True)["links"].append(made)
        return 200, made

    def _update_resource(self, request: Request) -> Answer:
        for link in self._version_of(request, to_edit=True)["links"]:
            if link["id"] == request.names["id"]:
                link |= request.form() | {"resource_type": self._type_of(request.form()["resource_id"])}
                return 200, link
        raise Refusal(404, "Record not found")

    def _type_of(self, store: str) -> str:
        for kind, name in (("kv", "kv-store"), ("secret", "secret-store"), ("config", "config")):
            if store in self.stores[kind]:
                return name
        raise Refusal(404, "Resource not found")

    def _put_package(self, request: Request) -> Answer:
        assert b"\x1f\x8b" in request.body, "a gzip file"
        self._version_of(request, to_edit=True)["package"] = hashlib.sha512(request.body).hexdigest()
        return 200, {"metadata": {"language": "python"}}

    # Stores

    def _list(self, kind: str, request: Request) -> list[dict[str, str]]:
        name = request.query.get("name")
        return [{"id": key, "name": store["name"]} for key, store in self.stores[kind].items() if name in (None, store["name"])]

    def _create(self, kind: str, name: str) -> Answer:
        if not re.fullmatch(r"[A-Za-z0-9_.-]{1,255}", name):
            raise Refusal(400, "Provided name is not valid")
        if any(store["name"] == name for store in self.stores[kind].values()):
            raise Refusal(409, "Duplicate record")
        made = self._id(kind[0])
        self.stores[kind][made] = {"name": name, "held": {}}
        return 200, {"id": made, "name": name}

    def _held(self, kind: str, store_id: str) -> dict[str, Any]:
        if store_id not in self.stores[kind]:
            raise Refusal(404, "Store not found")
        held: dict[str, Any] = self.stores[kind][store_id]["held"]
        return held

    def _kv_store_list(self, request: Request) -> Answer:
        return 200, {"data": self._list("kv", request), "meta": {"next_cursor": ""}}

    def _kv_store_create(self, request: Request) -> Answer:
        return self._create("kv", request.json()["name"])

    def _kv_store_list_item_keys(self, request: Request) -> Answer:
        keys = sorted(self._held("kv", request.names["store_id"]))
        start = int(base64.b64decode(request.query.get("cursor", "")) or b"0")
        end = start + min(KEYS_PER_PAGE, int(request.query.get("limit", 100)))
        following = base64.b64encode(str(end).encode()).decode() if end < len(keys) else ""
        return 200, {"data": keys[start:end], "meta": {"next_cursor": following}}

    def _kv_store_get_item(self, request: Request) -> Answer:
        held = self._held("kv", request.names["store_id"])
        if request.names["key"] not in held:
            raise Refusal(404, "Item was not found")
        return 200, held[request.names["key"]]

    def _kv_store_upsert_item(self, request: Request) -> Answer:
        key = request.names["key"]
        if len(key.encode()) > 1024 or len(request.body) > 25_000_000:
            raise Refusal(400, "Provided name is not valid")
        self._held("kv", request.names["store_id"])[key] = request.body
        return 200, None

    def _kv_store_delete_item(self, request: Request) -> Answer:
        held = self._held("kv", request.names["store_id"])
        if held.pop(request.names["key"], None) is None:
            raise Refusal(404, "Item was not found")
        return 204, None

    def _get_secret_stores(self, request: Request) -> Answer:
        return 200, {"data": self._list("secret", request), "meta": {"next_cursor": ""}}

    def _create_secret_store(self, request: Request) -> Answer:
        return self._create("secret", request.json()["name"])

    def _get_secrets(self, request: Request) -> Answer:
        held = self._held("secret", request.names["store_id"])
        return 200, {"data": [{"name": name, "digest": _digest(value)} for name, value in held.items()], "meta": {}}

    def _recreate_secret(self, request: Request) -> Answer:
        told = request.json()
        value = base64.b64decode(told["secret"], validate=True)
        if not 0 < len(value) <= 65_536:
            raise Refusal(400, "secret has a wrong length")
        self._held("secret", request.names["store_id"])[told["name"]] = value
        return 200, {"name": told["name"], "digest": _digest(value), "recreated": True}

    def _list_config_stores(self, request: Request) -> Answer:
        return 200, self._list("config", request)

    def _create_config_store(self, request: Request) -> Answer:
        return self._create("config", request.form()["name"])

    def _list_config_store_items(self, request: Request) -> Answer:
        held = self._held("config", request.names["config_store_id"])
        return 200, [{"item_key": name, "item_value": value} for name, value in held.items()]

    def _upsert_config_store_item(self, request: Request) -> Answer:
        form = request.form()
        if len(form["item_value"]) > 8000:
            raise Refusal(400, "item_value is too long")
        self._held("config", request.names["config_store_id"])[request.names["config_store_item_key"]] = form["item_value"]
        return 200, form


class Request:
    def __init__(self, names: dict[str, str], query: dict[str, str], content_type: str, body: bytes) -> None:
        self.names, self.query, self.content_type, self.body = names, query, content_type, body

    def form(self) -> dict[str, str]:
        return dict(parse_qsl(self.body.decode(), keep_blank_values=True))

    def json(self) -> dict[str, Any]:
        told: dict[str, Any] = json.loads(self.body)
        return told


def _version(number: int) -> dict[str, Any]:
    return {"number": number, "active": False, "locked": False, "comment": "", "domains": [], "backends": {}, "links": [],
            "package": None}  # fmt: skip


def _seen(version: dict[str, Any]) -> dict[str, Any]:
    return {name: version[name] for name in ("number", "active", "locked", "comment")}


def _digest(value: bytes) -> str:
    return base64.b64encode(hashlib.sha256(b"opaque" + value).digest()).decode()


def _typed(form: dict[str, str]) -> dict[str, Any]:
    """As the API answers: numbers as numbers, flags as true and false."""
    flags = ("use_ssl", "ssl_check_cert")
    return {name: value == "1" if name in flags else int(value) if value.isdigit() else value for name, value in form.items()}


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    wbufsize = 65_536  # head and body in one packet: two would wait for each other
    fastly: Fastly

    def _serve(self) -> None:
        body = self.rfile.read(int(self.headers.get("content-length") or 0))
        status, said, headers = self.fastly.answer(
            self.command, self.path, self.headers.get("fastly-key", ""), self.headers.get("content-type", ""), body
        )
        data = b"" if said is None else said if isinstance(said, bytes) else json.dumps(said).encode()
        self.send_response(status)
        for name, value in ({"content-length": str(len(data))} | headers).items():
            self.send_header(name, value)
        self.end_headers()
        self.wfile.write(data)

    do_GET = do_POST = do_PUT = do_DELETE = do_PATCH = _serve

    def log_message(self, *args: Any) -> None:
        return


@contextmanager
def running_fastly() -> Iterator[Fastly]:
    """The stand-in, listening; `url` says where."""
    fastly = Fastly()
    server = ThreadingHTTPServer(("127.0.0.1", 0), type("Handler", (_Handler,), {"fastly": fastly}))
    server.daemon_threads = True
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.02}, daemon=True)
    thread.start()
    fastly.url = f"http://127.0.0.1:{server.server_address[1]}"
    try:
        yield fastly
    finally:
        server.shutdown()
        server.server_close()
        thread.join(5)
