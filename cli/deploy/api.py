"""Fastly's public API over plain HTTP: one call as a value, and the client that sends it.

Source: https://www.fastly.com/documentation/reference/api/ and the description that Fastly's own generated client carries
(PyPI `fastly`), against which the tests hold every call.
"""

from __future__ import annotations

import re
import time
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any
from urllib.parse import quote

import httpx

from cli.deploy.hourly import CHANGES_PER_HOUR

API_URL = "https://api.fastly.com"
TIMEOUT_S = 30.0
# A package of some megabytes on a slow line.
UPLOAD_TIMEOUT_S = 300.0
TRIES = 3
WAIT_BEFORE_AGAIN_S = (0.5, 2.0)
#: A limit that starts anew so soon is waited for; the hourly one is told.
LONGEST_WAIT_S = 10.0
_NAMES = re.compile(r"\{([a-z_:.A-Z0-9-]+)\}")
_MASK = "********"

Known = dict[str, str]


class ApiError(Exception):
    """A call failed. The text says which, what the API said and what to do; `status` is 0 when nothing was answered."""

    def __init__(self, text: str, status: int = 0) -> None:
        super().__init__(text)
        self.status = status


@dataclass(frozen=True)
class Call:
    """One request. `{name}` in the path, query, form or body stands for what an earlier call has learned.

    `learns`: name -> key of the answer's object. `masked`: fields of form or body that are never shown.
    """

    method: str
    path: str
    query: Mapping[str, str] = field(default_factory=dict)
    form: Mapping[str, str] = field(default_factory=dict)
    body: Mapping[str, str] | None = None
    content: str | None = None
    upload: Path | None = None
    learns: Mapping[str, str] = field(default_factory=dict)
    masked: tuple[str, ...] = ()

    def target(self, known: Mapping[str, str]) -> str:
        """The path with what is known, each name as one segment."""
        return fill(self.path, known, lambda value: quote(value, safe=""))

    def shown(self, known: Mapping[str, str]) -> str:
        """The call in one line, without secrets."""
        fields = {name: fill(value, known) for name, value in {**self.form, **(self.body or {})}.items()}
        said = [f"{name}={_MASK if name in self.masked else value}" for name, value in {**self.query, **fields}.items()]
        said += [f"<{len(self.content.encode('utf-8', 'surrogatepass')):,} bytes>"] if self.content is not None else []
        said += [f"<{self.upload}>"] if self.upload else []
        return " ".join([self.method, self.target(known) if _all_known(self.path, known) else self.path, *said])


def fill(text: str, known: Mapping[str, str], convert: Callable[[str], str] = str) -> str:
    """The text with each `{name}` replaced by what is known of it; the others stay."""
    return _NAMES.sub(lambda found: convert(known[found[1]]) if found[1] in known else found[0], text)


def _all_known(text: str, known: Mapping[str, str]) -> bool:
    return all(name in known for name in _NAMES.findall(text))


class Api:
    """The client. `sleep` gets seconds between two tries, `now` is Unix time in seconds. Call `close` at the end."""

    def __init__(self, token: str, url: str = API_URL, transport: httpx.BaseTransport | None = None,
                 sleep: Callable[[float], None] = time.sleep, now: Callable[[], float] = time.time) -> None:  # fmt: skip
        headers = {"Fastly-Key": token, "Accept": "application/json", "User-Agent": "stanchion-deploy"}
        self._client = httpx.Client(base_url=url, headers=headers, timeout=TIMEOUT_S, transport=transport)
        self._sleep, self._now = sleep, now

    def close(self) -> None:
        """Gives the connections back."""
        self._client.close()

    def run(self, call: Call, known: Known) -> Any:
        """Sends a call and returns the object that it answered; what it teaches goes into `known`. Raises ApiError."""
        answer = self._json(self._send(call, known), call, known)
        for name, key in call.learns.items():
            if not isinstance(answer, dict) or not answer.get(key):
                raise ApiError(f"{call.shown(known)}: the answer has no {key!r}: {str(answer)[:200]}")
            known[name] = str(answer[key])
        return answer

    def find(self, path: str, **query: str) -> Any | None:
        """What a GET answers, None when there is no such thing. Raises ApiError."""
        call = Call("GET", path, query=query)
        try:
            return self.run(call, {})
        except ApiError as error:
            if error.status == 404:
                return None
            raise

    def pages(self, path: str, **query: str) -> Iterator[Any]:
        """Every item of a list that comes page by page with a cursor. Raises ApiError."""
        cursor = ""
        while True:
            page = self.run(Call("GET", path, query={**query, **({"cursor": cursor} if cursor else {})}), {})
            if not isinstance(page, dict) or not isinstance(page.get("data"), list):
                raise ApiError(f"GET {path} answered no list: {str(page)[:200]}")
            yield from page["data"]
            following = (page.get("meta") or {}).get("next_cursor") or ""
            if not following or following == cursor:
                return
            cursor = following

    def raw(self, call: Call, known: Known) -> bytes | None:
        """The bytes that a GET answers, None when there is no such thing. Raises ApiError."""
        try:
            return self._send(call, known).content
        except ApiError as error:
            if error.status == 404:
                return None
            raise

    def _send(self, call: Call, known: Known) -> httpx.Response:
        # These may have made something before the answer was lost: it is for the next run to look.
        repeatable = call.method != "POST" and not call.path.endswith("/clone")
        for attempt in range(1, TRIES + 1):
            wait_s: float | None = WAIT_BEFORE_AGAIN_S[attempt - 1] if repeatable and attempt < TRIES else None
            try:
                answer = self._client.send(self._request(call, known))
            except httpx.HTTPError as error:
                if wait_s is None:
                    raise ApiError(f"{call.shown(known)}: no answer: {error or type(error).__name__}") from error
            else:
                if answer.status_code == 429 and attempt < TRIES:
                    # It was not done, whatever it was.
                    wait_s = _until_reset_s(answer, self._now(), unknown_s=wait_s)
                if wait_s is None or (answer.status_code < 500 and answer.status_code != 429):
                    return self._good(answer, call, known)
            self._sleep(wait_s)
        raise AssertionError("a last try returns or raises")

    def _request(self, call: Call, known: Known) -> httpx.Request:
        more: dict[str, Any] = {"params": {name: fill(value, known) for name, value in call.query.items()} or None}
        if call.upload is not None:
            more["files"] = {"package": (call.upload.name, call.upload.read_bytes(), "application/gzip")}
            more["timeout"] = UPLOAD_TIMEOUT_S
        elif call.content is not None:
            more["content"] = call.content.encode()
            more["headers"] = {"Content-Type": "application/octet-stream"}
        elif call.body is not None:
            more["json"] = {name: fill(value, known) for name, value in call.body.items()}
        elif call.form:
            more["data"] = {name: fill(value, known) for name, value in call.form.items()}
        if missing := [name for name in _NAMES.findall(call.path) if name not in known]:
            raise ApiError(f"{call.shown(known)}: {', '.join(missing)} is not known yet")
        return self._client.build_request(call.method, call.target(known), **more)

    def _good(self, answer: httpx.Response, call: Call, known: Known) -> httpx.Response:
        if answer.is_success:
            return answer
        raise ApiError(f"{call.shown(known)}: {answer.status_code}: {_said(answer)}{_hint(answer)}", answer.status_code)

    def _json(self, answer: httpx.Response, call: Call, known: Known) -> Any:
        if not answer.content:
            return None
        try:
            return answer.json()
        except ValueError as error:
            raise ApiError(f"{call.shown(known)}: the answer is not JSON: {answer.text[:200]!r}") from error


def _until_reset_s(answer: httpx.Response, now_s: float, *, unknown_s: float | None) -> float | None:
    """How long to wait for a limit: None when that is too long, `unknown_s` when the answer does not say.

    `Fastly-RateLimit-Reset` is Unix time, and comes with every change: https://www.fastly.com/documentation/reference/api/#rate-limiting
    """
    reset, after = (answer.headers.get(name, "") for name in ("fastly-ratelimit-reset", "retry-after"))
    if after.isdigit():
        wait_s = float(after)
    elif reset.isdigit():
        wait_s = max(0.0, int(reset) - now_s)
    else:
        return unknown_s
    return wait_s if wait_s <= LONGEST_WAIT_S else None


def _said(answer: httpx.Response) -> str:
    """The API's own words: `msg` and `detail`, or a problem's `title` and `errors`."""
    try:
        body = answer.json()
    except ValueError:
        return answer.text.strip()[:300] or "no text"
    if not isinstance(body, dict):
        return str(body)[:300]
    parts = [str(body[name]) for name in ("msg", "title", "detail", "errors") if body.get(name)]
    return "; ".join(parts)[:500] or str(body)[:300]


def _hint(answer: httpx.Response) -> str:
    if answer.status_code in (401, 403):
        return ". Is FASTLY_API_TOKEN right, with the scope `global` and the role of an engineer?"
    if answer.status_code == 429:
        reset = answer.headers.get("fastly-ratelimit-reset", "")
        when = time.strftime(" at %H:%M:%S UTC", time.gmtime(int(reset))) if reset.isdigit() else " within the hour"
        return f". {CHANGES_PER_HOUR:,} changes an hour are allowed; it starts anew{when}. Run the same command again then."
    return ""
