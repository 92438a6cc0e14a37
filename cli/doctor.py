"""`stanchion doctor URL`: looks at a deployment from outside, as a visitor would.

Few requests, all to the given address: whether our answers stay out of caches, whether two strangers get two cookies, and
whether another spelling of the address slips past the gate.
"""

from __future__ import annotations

import re
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from urllib.parse import urlsplit

import click
import httpx

TIMEOUT_S = 10.0
_BEFORE_LETTER = re.compile(r"^(?:%[0-9A-Fa-f]{2}|[^A-Za-z0-9%])*")


@dataclass(frozen=True)
class Finding:
    """One thing that was looked at. `good` None: could not be told."""

    good: bool | None
    text: str


def _get(client: httpx.Client, url: str, target: str | None = None, method: str = "GET") -> httpx.Response:
    extensions = {} if target is None else {"target": target.encode("latin-1")}
    client.cookies.clear()  # each request is a stranger's, whatever the last answer set
    request = client.build_request(method, url, headers={"Accept": "text/html"}, extensions=extensions)
    return client.send(request)


def _our_cookies(response: httpx.Response) -> set[str]:
    pairs = (value.partition(";")[0] for name, value in response.headers.multi_items() if name.lower() == "set-cookie")
    return {pair for pair in pairs if "stanchion-" in pair.partition("=")[0]}


def is_ours(response: httpx.Response) -> bool:
    """Whether the gate had a hand in an answer: it held it, says so, or set a cookie."""
    if _our_cookies(response) or "stanchion-state" in response.headers:
        return True
    is_held = response.status_code in (200, 202, 429, 503) and "cdn-cache-control" in response.headers
    return is_held and _is_uncacheable(response)


def _is_uncacheable(response: httpx.Response) -> bool:
    said = response.headers.get("cache-control", "")
    return "no-store" in said or "private" in said


def spellings(path: str) -> Iterator[tuple[str, str]]:
    """Other ways to write `path` that an origin may read as the same: what differs, and the raw target."""
    first = len(path) - len(_BEFORE_LETTER.sub("", path, count=1))
    if first < len(path):
        yield "an escaped letter", f"{path[:first]}%{ord(path[first]):02x}{path[first + 1:]}"
    yield "a doubled slash", "/" + path
    yield "a detour", "/x/.." + path
    yield "a dot segment", "/." + path


def examine(url: str, client: httpx.Client) -> Iterator[Finding]:
    """Every finding about the deployment at `url`. Raises httpx.HTTPError when it does not answer at all."""
    one, two = _get(client, url), _get(client, url)
    if not is_ours(one):
        yield Finding(None, "the gate had no hand in this answer: give an address that a queue guards")
    else:
        yield Finding(not (_our_cookies(one) & _our_cookies(two)), "two visitors without cookies get two different cookies")
        yield Finding(_is_uncacheable(one), f"Cache-Control keeps the answer out of caches: {one.headers.get('cache-control')!r}")
        marks = {name: one.headers.get(name, "").lower() for name in ("age", "x-cache")}
        aged = [name for name, value in marks.items() if "hit" in value or value.isdigit()]
        yield Finding(not aged, "the answer does not come out of a cache" + (f" (it has {', '.join(aged)})" if aged else ""))
        yield Finding("refresh" not in one.headers, "there is no Refresh header, which would wipe what was typed")
        for what, target in spellings(httpx.URL(url).raw_path.partition(b"?")[0].decode("ascii")):
            other = _get(client, url, target)
            yield Finding(is_ours(other) or other.status_code == 400, f"{what} does not slip past: {target}")
        head = _get(client, url, method="HEAD")
        yield Finding(not _our_cookies(head), "HEAD takes no place")
    health = _get(client, url, "/.stanchion/health")
    yield Finding(health.status_code == 200, f"/.stanchion/health answers: {health.status_code}")
    unknown = _get(client, url, "/.stanchion/no-such-queue/status")
    yield Finding(unknown.status_code == 404, f"an unknown reserved path is a 404: {unknown.status_code}")


def _check_address(url: str) -> None:
    try:
        parts, _ = urlsplit(url), httpx.URL(url)
        if parts.scheme in ("http", "https") and parts.hostname and (parts.port is None or parts.port > 0):
            return
        why = "give one that starts with http:// or https:// and names a host"
    except (ValueError, httpx.InvalidURL) as error:
        why = f"{error}; give one like https://www.example.org/sale/"
    raise click.UsageError(f"{url} is no address: {why}")


@click.command()
@click.argument("url")
def doctor(url: str) -> None:
    """Check the deployment at URL (an address that a queue guards) from outside. Exit code 1 when something is wrong."""
    _check_address(url)
    wrong = 0
    try:
        with httpx.Client(timeout=TIMEOUT_S, follow_redirects=False) as client:
            for finding in examine(url, client):
                mark = {True: "ok  ", False: "BAD ", None: "?   "}[finding.good]
                wrong += finding.good is not True
                click.echo(mark + finding.text)
    except httpx.HTTPError as error:
        raise click.ClickException(f"{url} does not answer: {error}") from error
    sys.exit(1 if wrong else 0)
