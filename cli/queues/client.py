"""The admin's API for a shell: one retry that can do no harm, and problems in words."""

from __future__ import annotations

import secrets
from collections.abc import Mapping
from typing import Any

import click
import httpx

TIMEOUT_S = 40.0  # longer than the longest batch takes on the server
PAGE_SIZE = 500


class AdminApi:
    """`url`: of the admin app. Every method raises click.ClickException, in the words of the problem that came back."""

    def __init__(self, url: str, token: str, transport: httpx.BaseTransport | None = None) -> None:
        self._url = url.rstrip("/")
        headers = {"Authorization": f"Bearer {token}", "Accept": "application/json"}
        self._http = httpx.Client(base_url=f"{self._url}/api/v1", headers=headers, timeout=TIMEOUT_S, transport=transport)

    def get(self, path: str, **query: Any) -> Any:
        """What stands there."""
        return self._answer("GET", path, params=query)

    def send(self, method: str, path: str, body: Mapping[str, Any] | None = None) -> Any:
        """Does a step. A broken connection is tried once more under the same key, so the step is done once."""
        key = {"Idempotency-Key": secrets.token_hex(16)}
        return self._answer(method, path, headers=key, **({} if body is None else {"json": body}))

    def queues(self) -> list[dict[str, Any]]:
        """All queues, in the order of the configuration."""
        found: list[dict[str, Any]] = []
        after = ""
        while True:
            part = self.get("/queues", limit=PAGE_SIZE, **({"after": after} if after else {}))
            found += part["queues"]
            after = part["next"]
            if not after:
                return found

    def _answer(self, method: str, path: str, **more: Any) -> Any:
        for is_last in (False, True):
            try:
                answer = self._http.request(method, path, **more)
            except httpx.TransportError as error:
                if is_last or isinstance(error, httpx.ConnectError):
                    raise click.ClickException(f"{self._url} does not answer: {error}. Is the admin running there?") from error
            else:
                return _content(self._url, answer)
        raise AssertionError("the last try returns or raises")


def _content(url: str, answer: httpx.Response) -> Any:
    try:
        body = answer.json() if answer.content else None
    except ValueError:
        body = None
    if answer.is_success and body is not None:
        return body
    detail = body.get("detail") if isinstance(body, dict) else None
    if answer.status_code == 401:
        detail = f"{detail or 'The token is not good.'} Set STANCHION_ADMIN_TOKEN; the console makes tokens under People."
    raise click.ClickException(str(detail or f"{url} answered {answer.status_code}; is that the admin's address?"))
