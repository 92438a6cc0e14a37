"""Fastly's KV store as a store: one item for each key, over the public API.

Limits: https://docs.fastly.com/en/guides/working-with-kv-stores (a key of 1,024 bytes, a value of 25 MB) and the KVStore page of
the JavaScript SDK (names and characters that are not allowed).
"""

from __future__ import annotations

from urllib.parse import quote

from cli.deploy.api import Api, ApiError, Call, Known
from cli.kv.stores import Limits, StoreError, as_text

KEY_MAX_BYTES = 1024
VALUE_MAX_BYTES = 25 * 1000 * 1000
STORE_PATH = "/resources/stores/kv"
KEYS_PATH = STORE_PATH + "/{kv_store}/keys"
#: The most that one page of a list holds by itself is 100; asking for more saves calls.
PAGE_KEYS = "1000"
_FORBIDDEN = frozenset("#;?^|\n\r*[]")


def _key_fault(key: str) -> str | None:
    if key in (".", "..") or key.startswith(".well-known/acme-challenge/"):
        return f"the key {key[:60]!r} is reserved"
    if found := sorted(_FORBIDDEN & set(key)):
        return f"the key {key[:60]!r} has {found[0]!r}, which a KV store does not allow"
    return None


LIMITS = Limits(KEY_MAX_BYTES, VALUE_MAX_BYTES, _key_fault)


def item_call(method: str, key: str, text: str | None = None) -> Call:
    """A call about one item of the store that `{kv_store}` stands for; the key is one segment of the path."""
    return Call(method, f"{KEYS_PATH}/{quote(key, safe='')}", content=text)


def find_store(api: Api, path: str, name: str) -> str | None:
    """The id of the store with this name, or None. Raises ApiError."""
    return next((str(store["id"]) for store in api.pages(path, name=name) if store.get("name") == name), None)


class FastlyStore:
    """The KV store `store_name` of the account. Call `close` at the end."""

    limits = LIMITS

    def __init__(self, api: Api, store_name: str) -> None:
        self.name = f"Fastly's KV store {store_name}"
        self._api = api
        try:
            found = find_store(api, STORE_PATH, store_name)
        except ApiError as error:
            raise StoreError(str(error)) from error
        if found is None:
            raise StoreError(f"there is no KV store {store_name!r} in this account; `stanchion deploy fastly` creates one")
        self._known: Known = {"kv_store": found}

    def close(self) -> None:
        """Gives the connections back."""
        self._api.close()

    def list(self) -> list[str]:
        """Every key, sorted."""
        path = Call("GET", KEYS_PATH).target(self._known)
        try:
            return sorted(str(key) for key in self._api.pages(path, limit=PAGE_KEYS, consistency="strong"))
        except ApiError as error:
            raise StoreError(str(error)) from error

    def get(self, key: str) -> str | None:
        """The value, or None if there is none."""
        try:
            value = self._api.raw(item_call("GET", key), self._known)
        except ApiError as error:
            raise StoreError(str(error)) from error
        return None if value is None else as_text(key, value, self.name)

    def put(self, key: str, text: str) -> None:
        """Sets the value. Every point of presence has it within some seconds."""
        self.limits.check(key, text, self.name)
        try:
            self._api.run(item_call("PUT", key, text), self._known)
        except ApiError as error:
            raise StoreError(str(error)) from error

    def delete(self, key: str) -> None:
        """Removes the key."""
        try:
            self._api.run(item_call("DELETE", key), self._known)
        except ApiError as error:
            if error.status != 404:
                raise StoreError(str(error)) from error
