"""The host functions that the guest calls, by interface and name; all others of the platform are there and say `unsupported`."""

from __future__ import annotations

import ipaddress
import json
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from wasmtime.component import Record, Variant

from tests.double.cache import Lookup
from tests.double.crossing import Refused, refusal
from tests.double.message import Body, Message, Pending

if TYPE_CHECKING:
    from tests.double.sandbox import Sandbox

Call = Callable[..., Any]
CALLS: dict[str, Call] = {}


def host(name: str) -> Callable[[Call], Call]:
    """Registers a host function."""

    def register(call: Call) -> Call:
        CALLS[name] = call
        return call

    return register


def fitting(value: Any, room: int) -> Any:
    if len(value) > room:
        raise refusal("buffer-len", len(value))
    return value


def listed(values: list[bytes], room: int, cursor: int) -> tuple[bytes, int | None]:
    """Values with a NUL behind each, as many as fit, and where to go on."""
    block = b""
    for number in range(cursor, len(values)):
        if len(block) + len(values[number]) + 1 > room:
            if not block:
                raise refusal("buffer-len", len(values[number]) + 1)
            return block, number
        block += values[number] + b"\0"
    return block, None


def opened(name: str, is_there: bool) -> str:
    if not is_there:
        raise Refused("not-found")
    return name


# --- async-io -----------------------------------------------------------------------------------------------------------


@host("async-io#select-with-timeout")
def select_with_timeout(sandbox: Sandbox, handles: list[Any], timeout_ms: int) -> int | None:
    assert len(handles) == 1, "the guest waits for one thing at a time"
    return 0 if handles[0].ready(timeout_ms / 1000) else None


# --- bodies -------------------------------------------------------------------------------------------------------------


@host("http-body#new")
def new_body(sandbox: Sandbox) -> Body:
    return Body()


@host("http-body#read")
def read(sandbox: Sandbox, body: Body, size: int) -> bytes:
    return body.read(size)


@host("http-body#write")
def write(sandbox: Sandbox, body: Body, data: bytes) -> int:
    taken = data[: sandbox.platform.write_at_most]
    body.write(taken)
    return len(taken)


@host("http-body#close")
def close_body(sandbox: Sandbox, body: Body) -> None:
    if body.on_close:
        body.on_close(body)


# --- requests and answers -----------------------------------------------------------------------------------------------


@host("http-req#[static]request.new")
@host("http-resp#[static]response.new")
def new_message(sandbox: Sandbox) -> Message:
    return Message()


@host("http-req#[method]request.set-method")
def set_method(sandbox: Sandbox, message: Message, method: str) -> None:
    message.method = method


@host("http-req#[method]request.set-uri")
def set_uri(sandbox: Sandbox, message: Message, uri: str) -> None:
    message.uri = uri


@host("http-req#[method]request.get-method")
def get_method(sandbox: Sandbox, message: Message, room: int) -> str:
    return str(fitting(message.method, room))


@host("http-req#[method]request.get-uri")
def get_uri(sandbox: Sandbox, message: Message, room: int) -> str:
    return str(fitting(message.uri, room))


@host("http-resp#[method]response.get-status")
def get_status(sandbox: Sandbox, message: Message) -> int:
    return message.status


@host("http-resp#[method]response.set-status")
def set_status(sandbox: Sandbox, message: Message, status: int) -> None:
    message.status = status


def _names(sandbox: Sandbox, message: Message, room: int, cursor: int) -> tuple[str, int | None]:
    names = dict.fromkeys(name.lower() for name, _ in message.headers)
    block, following = listed([name.encode() for name in names], room, cursor)
    return block.decode(), following


def _values(sandbox: Sandbox, message: Message, name: str, room: int, cursor: int) -> tuple[bytes, int | None]:
    return listed(message.values(name), room, cursor)


def _insert(sandbox: Sandbox, message: Message, name: str, value: bytes) -> None:
    message.headers = [*message.without(name), (name, value)]


def _append(sandbox: Sandbox, message: Message, name: str, value: bytes) -> None:
    message.headers.append((name, value))


def _remove(sandbox: Sandbox, message: Message, name: str) -> None:
    if not message.values(name):
        raise refusal("invalid-argument")
    message.headers = message.without(name)


for _kind in ("http-req#[method]request", "http-resp#[method]response"):
    CALLS |= {
        f"{_kind}.get-header-names": _names, f"{_kind}.get-header-values": _values, f"{_kind}.insert-header": _insert,
        f"{_kind}.append-header": _append, f"{_kind}.remove-header": _remove,
    }  # fmt: skip


@host("http-req#send-uncached")
def send_uncached(sandbox: Sandbox, message: Message, body: Body, backend: str) -> tuple[Message, Body]:
    return await_response(sandbox, send_async_uncached(sandbox, message, body, backend))


@host("http-req#send-async-uncached")
def send_async_uncached(sandbox: Sandbox, message: Message, body: Body, backend: str) -> Pending:
    with sandbox.platform.lock:
        sandbox.platform.sent[backend] += 1
    sandbox.sent.append(backend)
    return Pending(sandbox.platform.backends[backend], message, body)


@host("http-req#await-response")
def await_response(sandbox: Sandbox, pending: Pending) -> tuple[Message, Body]:
    pending.ready(None)
    if pending.result is None:
        raise Refused(without_detail())
    return pending.result


def without_detail() -> Record:
    """How a request fails on local hosts: nobody says why."""
    told = Record()
    told.detail, told.error = None, Variant("generic-error")
    return told


@host("http-resp#send-downstream")
def send_downstream(sandbox: Sandbox, message: Message, body: Body) -> None:
    sandbox.answer(message, body)


@host("http-downstream#downstream-client-ip-addr")
def client_address(sandbox: Sandbox, message: Message) -> Variant:
    address = ipaddress.ip_address(message.client)
    if address.version == 4:
        return Variant("ipv4", tuple(address.packed))
    packed = address.packed
    return Variant("ipv6", tuple(int.from_bytes(packed[at : at + 2]) for at in range(0, 16, 2)))


@host("http-downstream#next-request")
def next_request(sandbox: Sandbox, options: Record) -> object:
    return "the next one"


@host("http-downstream#await-request")
def await_request(sandbox: Sandbox, pending: object) -> tuple[Message, Body] | None:
    return sandbox.take_next()


# --- stores -------------------------------------------------------------------------------------------------------------


@host("config-store#[static]store.open")
def open_settings(sandbox: Sandbox, name: str) -> str:
    return opened(name, bool(sandbox.platform.settings))


@host("config-store#[method]store.get")
def get_setting(sandbox: Sandbox, store: str, key: str, room: int) -> str | None:
    return str(fitting(json.dumps(sandbox.platform.settings), room)) if key == "settings" else None


@host("secret-store#[static]store.open")
def open_secrets(sandbox: Sandbox, name: str) -> str:
    return opened(name, sandbox.platform.secrets is not None)


@host("secret-store#[method]store.get")
def get_secret(sandbox: Sandbox, store: str, key: str) -> str | None:
    return (sandbox.platform.secrets or {}).get(key)


@host("secret-store#[method]secret.plaintext")
def plaintext(sandbox: Sandbox, secret: str, room: int) -> bytes:
    return bytes(fitting(secret.encode(), room))


@host("kv-store#[static]store.open")
def open_kv(sandbox: Sandbox, name: str) -> str:
    return opened(name, sandbox.platform.kv is not None)


@host("kv-store#[method]store.lookup-async")
def lookup_async(sandbox: Sandbox, store: str, key: str) -> object:
    assert sandbox.platform.kv is not None
    return ("lookup", sandbox.platform.kv(key))


@host("kv-store#await-lookup")
def await_lookup(sandbox: Sandbox, pending: tuple[str, bytes | None]) -> Body | None:
    return None if pending[1] is None else Body(pending[1])


@host("kv-store#[method]entry.take-body")
def take_body(sandbox: Sandbox, entry: Body) -> Body:
    return entry


@host("geo#lookup")
def geo_lookup(sandbox: Sandbox, address: Variant, room: int) -> str:
    known = sandbox.platform.countries.get(".".join(map(str, address.payload)), "**")
    return str(fitting(json.dumps({"country_code": known, "city": "?"}), room))


@host("log#[static]endpoint.open")
def open_log(sandbox: Sandbox, name: str) -> str:
    return name


@host("log#[method]endpoint.write")
def write_log(sandbox: Sandbox, endpoint: str, line: bytes) -> None:
    with sandbox.platform.lock:
        sandbox.platform.log.append(line.decode())


@host("backend#[static]backend.open")
def open_backend(sandbox: Sandbox, name: str) -> str:
    return opened(name, name in sandbox.platform.backends)


# --- cache and counters -------------------------------------------------------------------------------------------------


@host("cache#[static]entry.transaction-lookup-async")
def transaction_lookup_async(sandbox: Sandbox, key: bytes, options: Record) -> Lookup:
    return Lookup(sandbox.platform.cache, key, in_transaction=True)


@host("cache#[static]entry.lookup")
def lookup(sandbox: Sandbox, key: bytes, options: Record) -> Lookup:
    return Lookup(sandbox.platform.cache, key, in_transaction=False)


@host("cache#await-entry")
def await_entry(sandbox: Sandbox, pending: Lookup) -> Lookup:
    pending.ready(None)
    return pending


@host("cache#[method]entry.get-state")
def get_state(sandbox: Sandbox, entry: Lookup) -> set[str]:
    return set(entry.state or ())


@host("cache#[method]entry.get-body")
def get_body(sandbox: Sandbox, entry: Lookup, options: Record) -> Body:
    if entry.item is None:
        raise refusal("generic-error")
    return Body(entry.item.body)


def _inserting(sandbox: Sandbox, key: bytes, options: Record) -> Body:
    cache, body = sandbox.platform.cache, Body()
    fresh_ns, stale_ns = getattr(options, "max-age-ns"), getattr(options, "stale-while-revalidate-ns")
    body.on_close = lambda closed: cache.put(key, closed.read(1 << 30), fresh_ns, stale_ns or 0)
    return body


@host("cache#[method]entry.transaction-insert")
def transaction_insert(sandbox: Sandbox, entry: Lookup, options: Record) -> Body:
    assert entry.is_obliged, "only who is obliged may insert"
    entry.is_obliged = False
    return _inserting(sandbox, entry.key, options)


@host("cache#insert")
def insert(sandbox: Sandbox, key: bytes, options: Record) -> Body:
    return _inserting(sandbox, key, options)


@host("cache#[method]entry.transaction-cancel")
@host("cache#close-entry")
@host("cache#close-pending-entry")
def close_entry(sandbox: Sandbox, entry: Lookup) -> None:
    entry.close()


@host("erl#[static]rate-counter.open")
def open_counter(sandbox: Sandbox, name: str) -> str:
    return name


@host("erl#[method]rate-counter.increment")
def increment(sandbox: Sandbox, counter: str, entry: str, delta: int) -> None:
    with sandbox.platform.lock:
        sandbox.platform.counters[f"{counter} {entry}"] += delta


@host("erl#[method]rate-counter.lookup-count")
def lookup_count(sandbox: Sandbox, counter: str, entry: str, duration_s: int) -> int:
    return sandbox.platform.counters[f"{counter} {entry}"]
