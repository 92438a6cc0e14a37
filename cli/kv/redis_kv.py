"""Configuration and pages in one hash of a Redis over REST, for edges that have no store of their own.

One hash, so that the list needs no SCAN, works on a cluster, and may be read with a read-only token.
"""

from __future__ import annotations

from typing import Any

import httpx

from cli.kv.stores import Limits, StoreError

#: The hash, unless another is named.
DEFAULT_HASH = "stanchion:kv"
TIMEOUT_S = 10.0
#: Upstash, "Pricing and limits": 10 MB for a request. JSON may write one byte as six (\\u0001), so the request is measured, too.
REQUEST_MAX_BYTES = 10 * 1024 * 1024
#: Redis allows keys of 512 MB; no other store of ours has one above this, so neither has this.
KEY_MAX_BYTES = 1024

LIMITS = Limits(KEY_MAX_BYTES, REQUEST_MAX_BYTES - 4096, lambda key: None)


class RedisStore:
    """The hash `hash_key` behind the REST address `url`. Call `close` at the end."""

    limits = LIMITS

    def __init__(self, url: str, token: str, hash_key: str = DEFAULT_HASH, transport: httpx.BaseTransport | None = None) -> None:
        self.name = f"Redis at {httpx.URL(url).host}, hash {hash_key}"
        self._url, self._hash = url.rstrip("/"), hash_key
        headers = {"Authorization": f"Bearer {token}", "Content-Type": "application/json"}
        # Each command sets or reads an absolute value, so a second try does no harm.
        retrying = transport or httpx.HTTPTransport(retries=1)
        self._client = httpx.Client(headers=headers, timeout=TIMEOUT_S, transport=retrying)

    def close(self) -> None:
        """Gives the connections back."""
        self._client.close()

    def list(self) -> list[str]:
        """Every key, sorted."""
        found = self._send("HKEYS", self._hash)
        if not isinstance(found, list) or not all(isinstance(key, str) for key in found):
            raise StoreError(f"{self.name}: HKEYS answered {str(found)[:100]}")
        return sorted(found)

    def get(self, key: str) -> str | None:
        """The value, or None if there is none."""
        found = self._send("HGET", self._hash, key)
        return None if found is None else str(found)

    def put(self, key: str, text: str) -> None:
        """Sets the value."""
        self.limits.check(key, text, self.name)
        self._send("HSET", self._hash, key, text)

    def delete(self, key: str) -> None:
        """Removes the key."""
        self._send("HDEL", self._hash, key)

    def _send(self, *command: str) -> Any:
        try:
            request = self._client.build_request("POST", self._url + "/", json=list(command))
            size_bytes = len(request.content)
            if size_bytes > REQUEST_MAX_BYTES:
                raise StoreError(f"{self.name}: {command[0]} would send {size_bytes:,} bytes, at most {REQUEST_MAX_BYTES:,} pass")
            answer = self._client.send(request)
            body = answer.json()
        except UnicodeEncodeError as error:
            raise StoreError(f"{self.name}: the value is not text that UTF-8 can hold ({error.reason})") from None
        except (httpx.HTTPError, ValueError) as error:
            raise StoreError(f"{self.name} does not answer {command[0]}: {error}") from error
        if not isinstance(body, dict) or "result" not in body:
            said = body.get("error") if isinstance(body, dict) else body
            hint = "; is UPSTASH_REDIS_REST_TOKEN right?" if answer.status_code == 401 else ""
            raise StoreError(f"{self.name} refused {command[0]} ({answer.status_code}): {str(said)[:200]}{hint}")
        return body["result"]
