"""What a sandbox is given: settings, secrets, the key-value store, the country of an address, and a place for log lines."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from edge.core import quick_json
from edge.guests.on_fastly.api import Err, config_store, geo, http_body, kv_store, log_endpoints, secret_store
from edge.guests.on_fastly.reading import RequestHeaders, grown

# The names that the service's stores and its log endpoint are linked under (`fastly.toml`): a link has no kind beside its name.
KV_STORE = "stanchion-kv"
SECRET_STORE = "stanchion-secret"
CONFIG_STORE = "stanchion-config"
LOG_ENDPOINT = "stanchion"
# One item with all settings as a JSON object: each read of an item is a call.
SETTINGS_ITEM = "settings"
SECRETS = ("signing-keys", "redis-rest-token")

_SETTINGS_BYTES = 8_192
# Local hosts do not say how much room they need.
_SECRET_BYTES = 65_536
_GEO_BYTES = 4_096
_PIECE_BYTES = 65_536
_UNKNOWN = frozenset(("XX", "ZZ"))


def read_all(body: Any) -> bytes:
    """A whole body. Raises Err."""
    pieces = []
    while piece := http_body.read(body, _PIECE_BYTES):
        pieces.append(piece)
    return b"".join(pieces)


class Surroundings:
    """Opened once for a sandbox, each thing when it is first asked for.

    A store that is not linked to the service is an empty one, except for the key-value store.
    """

    def __init__(self) -> None:
        self._settings: Mapping[str, str] | None = None
        self._secrets: Any = None
        self._kv: Any = None
        self._log: Any = None

    @property
    def settings(self) -> Mapping[str, str]:
        """All settings."""
        if self._settings is None:
            self._settings = self._read_settings()
        return self._settings

    @staticmethod
    def _read_settings() -> Mapping[str, str]:
        try:
            with config_store.Store.open(CONFIG_STORE) as store:
                text = grown(lambda size: store.get(SETTINGS_ITEM, size), _SETTINGS_BYTES)
            told = quick_json.read(text or "{}")
        except (Err, ValueError):
            return {}
        return {str(name): str(value) for name, value in told.items()} if isinstance(told, dict) else {}

    def setting(self, name: str) -> str | None:
        """A setting, or None."""
        return self.settings.get(name)

    def secret(self, name: str) -> str | None:
        """A secret, or None; names there have a dot for our colon. Raises OSError when the store cannot be read."""
        try:
            if self._secrets is None:
                self._secrets = secret_store.Store.open(SECRET_STORE)
            # Names in Fastly's stores are letters, digits, dashes, underscores and dots.
            found = self._secrets.get(name.replace(":", "."))
            if found is None:
                return None
            with found:
                return str(grown(found.plaintext, _SECRET_BYTES), "utf-8")
        except (Err, UnicodeDecodeError) as error:
            raise OSError(f"the secret store {SECRET_STORE} does not give {name}: {_what(error)}") from error

    def read_kv(self, key: str) -> bytes | None:
        """The value of a key in UTF-8, None for one that is not there. Raises OSError when the store cannot be read."""
        try:
            if self._kv is None:
                self._kv = kv_store.Store.open(KV_STORE)
            entry = kv_store.await_lookup(self._kv.lookup_async(key))
            if entry is None:
                return None
            with entry:
                body = entry.take_body()
                return b"" if body is None else read_all(body)
        except Err as error:
            raise OSError(f"the KV store {KV_STORE} does not give {key}: {_what(error)}") from error

    def write_log(self, line: str) -> None:
        """One JSON line. Trouble with the log is nobody's trouble."""
        try:
            if self._log is None:
                self._log = log_endpoints.Endpoint.open(LOG_ENDPOINT)
            self._log.write(line.encode("utf-8", "replace"))
        except Err:
            return

    def country(self, address: Any, headers: RequestHeaders) -> str:
        """Two letters, or "" for unknown: of a header that the deployment believes, else of the platform's own lookup."""
        if self.settings.get("STANCHION_COUNTRY_TRUST_ALL") == "1":
            told = headers.get(self.settings.get("STANCHION_COUNTRY_HEADER", "").lower())
            if told is not None:
                return country_code(told)
        if address is None:
            return ""
        try:
            found = json.loads(grown(lambda size: geo.lookup(address, size), _GEO_BYTES))
        except (Err, ValueError):
            return ""
        return country_code(found.get("country_code")) if isinstance(found, dict) else ""


def country_code(text: object) -> str:
    """Two letters A to Z as they are; "" for everything else, and for the codes that mean "unknown"."""
    fits = isinstance(text, str) and len(text) == 2 and text.isascii() and text.isupper() and text.isalpha()
    return str(text) if fits and text not in _UNKNOWN else ""


def _what(error: Exception) -> str:
    return type(error.value).__name__ if isinstance(error, Err) and not isinstance(error.value, str) else str(error)
