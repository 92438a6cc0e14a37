"""Visitors of a world: browsers that keep cookies as browsers do, and what they got."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from edge.core import commands, keyring
from edge.core.conclude import conclude
from edge.core.messages import Decision, Forward, Request, Respond
from tests.core.schema import holds
from tests.core.world import (
    HTML,
    JSON,
    KEYS,
    MANUAL,
    START_MS,
    Headers,
    Node,
    World,
    away,
    busy,
    failing,
    only,
    queue,
    queue_value,
    recorded,
    slow,
)

__all__ = [
    "HTML", "JSON", "KEYS", "MANUAL", "START_MS", "Browser", "Got", "Headers", "Node", "World", "away", "busy", "end", "failing",
    "forged", "full", "is_held", "only", "queue", "queue_value", "recorded", "set_cookies", "slow", "waiting",
]  # fmt: skip

SAFE_HEADERS = {
    "Cache-Control": "private, no-store",
    "CDN-Cache-Control": "no-store",
    "Surrogate-Control": "no-store",
    "X-Robots-Tag": "noindex",
}


@dataclass
class Got:
    """What a browser got. `forwarded`: the origin answered; then `headers` are those that the gate appended."""

    decision: Decision
    status: int
    headers: Headers
    body: str = ""
    calls: list[str] = field(default_factory=list)
    note: str = ""
    event: str = ""

    @property
    def forwarded(self) -> Forward | None:
        """The forward, if the request reached the origin."""
        return self.decision if isinstance(self.decision, Forward) else None

    @property
    def json(self) -> dict[str, Any]:
        """The body as JSON."""
        value = json.loads(self.body)
        assert isinstance(value, dict)
        return value

    @property
    def state(self) -> str:
        """The state in the JSON, or on the page."""
        return str(self.json["state"]) if self.body.startswith("{") else self.slot("state")

    def slot(self, name: str) -> str:
        """What stands in a slot of the page."""
        return self.body.partition(f"<p>{name}=")[2].partition("</p>")[0]

    def header(self, name: str) -> str:
        """The only header of this name, or an empty text."""
        values = self.all(name)
        assert len(values) <= 1, values
        return values[0] if values else ""

    def all(self, name: str) -> list[str]:
        """The values of a header."""
        return [value for key, value in self.headers if key.lower() == name.lower()]


class Browser:
    """A visitor with a cookie jar, as browsers keep it: Max-Age, Secure, the rules of the name prefixes."""

    def __init__(self, world: World, *, scheme: str = "https", host: str = "shop.example.org", client: str = "203.0.113.7",
                 country: str = "", accept: str = HTML, node: Node | None = None) -> None:  # fmt: skip
        self.world, self.scheme, self.host, self.client, self.country = world, scheme, host, client, country
        self.accept, self.node = accept, node
        self.skew_ms = 0  # how far the clock of the node that answers is ahead
        self.jar: dict[str, tuple[str, int]] = {"_ga": ("GA1.2.3", 2**53)}

    def cookie(self) -> str:
        """The Cookie header."""
        live = {name: value for name, (value, until_ms) in self.jar.items() if until_ms > self.world.now_ms}
        return "; ".join(f"{name}={value}" for name, value in live.items())

    def value(self, name: str) -> str:
        """The value of a cookie of ours, whatever its prefix; empty if there is none."""
        for key, (value, until_ms) in self.jar.items():
            if key.removeprefix("__Host-").removeprefix("__Secure-") == name and until_ms > self.world.now_ms:
                return value
        return ""

    def token(self, name: str = "stanchion-launch") -> dict[str, Any]:
        """The claims of a cookie of ours."""
        return self.world.ring.verify(self.value(name))[1]

    def keep(self, set_cookie: str) -> None:
        """Takes a Set-Cookie header as a browser does. Fails for one that a browser would refuse."""
        pair, *attributes = set_cookie.split("; ")
        name, _, value = pair.partition("=")
        said = {key.lower(): argument for key, _, argument in (item.partition("=") for item in attributes)}
        assert said["path"] == "/"
        assert "httponly" in said
        if name.startswith("__Host-"):
            assert "secure" in said
            assert "domain" not in said
        if name.startswith("__Secure-") or said["samesite"] == "None":
            assert "secure" in said
        assert ("secure" in said) == (self.scheme == "https")
        self.jar[name] = (value, self.world.now_ms + int(said["max-age"]) * 1000)

    def request(self, target: str, method: str = "GET", headers: Mapping[str, str] | None = None) -> Request:
        """A request with the browser's cookies. `headers` by lower-case name, beside or instead of its own."""
        all_headers = {"accept": self.accept, "cookie": self.cookie(), **(headers or {})}
        if not all_headers["cookie"]:
            del all_headers["cookie"]
        return Request(method, target, self.scheme, self.host, self.client, self.country, self.world.now_ms + self.skew_ms,
                       self.world.hex(), "req-1", all_headers)  # fmt: skip

    def get(self, target: str = "/launch/", method: str = "GET", headers: Mapping[str, str] | None = None, *,
            answer: tuple[int, Headers] | None = None) -> Got:  # fmt: skip
        """One request. `answer`: status and headers of the origin's answer, if it gets there."""
        node = self.node or self.world.node
        node.forget()
        request = self.request(target, method, headers)
        decision = self.world.decide(request, node)
        if isinstance(decision, Respond):
            got = Got(decision, decision.status, list(decision.headers), decision.text)
        else:
            got = self._origin(request, decision, node, answer or (200, [("cache-control", "private")]))
        got.calls = node.forget()
        for set_cookie in got.all("set-cookie"):
            self.keep(set_cookie)
        return got

    def _origin(self, request: Request, decision: Forward, node: Node, answer: tuple[int, Headers]) -> Got:
        status, headers = answer
        if not decision.context and not any(name.startswith("stanchion-") for name, _ in headers):
            return Got(decision, status, [])
        # The origin's answer comes a moment later; what a node learns in the meantime changes nothing.
        ending = conclude(request, decision.context, status, headers, node.context)
        for call in ending.calls:
            self.world.run(call)
            node.calls.append(call.script.name)
        return Got(decision, status, list(ending.headers), note=ending.note, event=ending.event)

    def status(self, queue_id: str = "launch") -> Got:
        """One look at the status, which keeps to its schema whatever the test is about."""
        got = self.get(f"/.stanchion/{queue_id}/status", headers={"accept": JSON})
        holds(got.json)
        return got

    def status_as(self, headers: Mapping[str, str], queue_id: str = "launch") -> Got:
        """One look at the status, with headers of one's own."""
        return self.get(f"/.stanchion/{queue_id}/status", headers={"accept": JSON, **headers})

    def leave(self, headers: Mapping[str, str] | None = None, queue_id: str = "launch") -> Got:
        """Gives up the place."""
        return self.get(f"/.stanchion/{queue_id}/leave", "POST", headers)

    def join(self, target: str = "/launch/") -> int:
        """Gets in line: a page, then the cookie comes back. Answers the position."""
        self.get(target)
        got = self.status()
        assert got.json["position"], got.body
        return int(got.json["position"])


def is_held(got: Got, status: int = 503) -> None:
    """Everything that a held answer has."""
    assert isinstance(got.decision, Respond)
    assert got.status == status
    for name, value in SAFE_HEADERS.items():
        assert got.header(name) == value
    assert int(got.header("Retry-After")) >= 1
    assert not got.all("Refresh")


def waiting(world: World, **values: Any) -> Browser:
    """A browser with a place in line."""
    browser = Browser(world, **values)
    browser.join()
    return browser


def end(world: World, browser: Browser, reason: commands.EndReason = "revoked") -> None:
    """Ends a visit behind the browser's back."""
    token = browser.token()
    world.run(commands.end("launch", token["e"], token["p"], token["v"], reason, world.hex()))


def full(world: World, people: int = 2) -> list[Browser]:
    """Fills the burst: that many browsers walk straight in; from then on the queue is queueing."""
    inside = []
    for number in range(people):
        browser = Browser(world, client=f"198.51.{number}.1")
        got = browser.get()
        if got.forwarded is None:  # the hold for candidates: the cookie comes back
            world.pass_time(1)
            got = browser.get()
        assert got.forwarded is not None, got.body
        inside.append(browser)
    return inside


def set_cookies(got: Got) -> dict[str, str]:
    """The Set-Cookie headers by the name of the cookie, without its prefix."""
    pairs: Mapping[str, str] = {value.partition("=")[0]: value for value in got.all("set-cookie")}
    return {name.removeprefix("__Host-").removeprefix("__Secure-"): value for name, value in pairs.items()}


def forged(world: World, kind: keyring.Kind, claims: dict[str, Any]) -> str:
    """A token that is signed as ours, with any claims."""
    return world.ring.sign(kind, claims)
