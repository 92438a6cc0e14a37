"""Runs this guest's own paths while the component is built, as far as they need no host.

Several times: the interpreter adapts code that it has run before, and what it adapted is in the component.
"""

from __future__ import annotations

import base64
import json

from edge.core.config import CONFIG_KEY, check_config
from edge.core.sealed import seal
from edge.guests import warm
from edge.guests.builtin import built_in
from edge.guests.knowledge import Knowledge
from edge.guests.on_fastly.api import cache, types
from edge.guests.on_fastly.reading import RequestHeaders, address_of, header_values, target_of
from edge.guests.on_fastly.redis import Deadline
from edge.guests.on_fastly.shared import Known
from edge.guests.on_fastly.surroundings import country_code
from edge.guests.rest import read_answer

_ROUTES = ({"path": "/w/*"}, {"host": "w.example", "path": "/w", "methods": ["GET"], "ignore_case": True})
_QUEUES = [
    {"id": f"w{at}", "name": "Warm", "admit_per_minute": 6, "routes": [route | {"path": f"/w{at}/*"} for route in _ROUTES]}
    for at in range(3)
]


class _Message:
    """A request as the host shows it."""

    def get_header_names(self, room: int, cursor: int) -> tuple[str, int | None]:
        """Names, and where to go on."""
        return "Cookie\0accept\0", None

    def get_header_values(self, name: str, room: int, cursor: int) -> tuple[bytes, int | None]:
        """Values, and where to go on."""
        return b"a=1\0b=2\0", None


def _read_all() -> None:
    assert target_of("https://w.example/w?x=1#y")[2] == "/w?x=1#y"
    headers = RequestHeaders(_Message())
    assert headers["cookie"] == "a=1; b=2"
    assert headers.get("x") is None
    assert header_values(_Message(), "accept")
    address_of(types.IpAddress_Ipv4((192, 0, 2, 1)))
    address_of(types.IpAddress_Ipv6((8193, 3512, 0, 0, 0, 0, 0, 1)))
    country_code(json.loads('{"country_code": "JP"}')["country_code"])
    Deadline(1).left_ms()


def _know(text: str) -> None:
    key = base64.urlsafe_b64encode(bytes(32)).decode()
    knowledge = Knowledge(lambda name: text if name == CONFIG_KEY else None, lambda name: None, lambda name: f"warm:{key}",
                          lambda line: None)  # fmt: skip
    knowledge.refresh("1")
    knowledge.context().router.match("W.example:1", "/w1/x", "GET")
    known = Known(1, [{"result": [["ok"], []]}], "", 0).text()
    for shared in (Known.read(known), Known(1, None, "away", 1)):
        assert shared is not None
        shared.reply(2)
    read_answer(200, b'[{"result":[["ok"],["a"]]}]', 1)
    json.dumps({"event": "request", "at": round(1.5, 3), "host": "w", "ms": round(2.25, 1)}, separators=(",", ":"))


def run() -> None:
    """Everything, often enough."""
    text = seal({"queues": _QUEUES})
    check_config({"queues": _QUEUES})
    warm.run()
    for _ in range(warm.TIMES):
        _read_all()
        _know(text)
    for accept in ("", "application/json"):
        built_in(502, "", accept)
    # A set of flags is made when it is first seen, and kept.
    for flags in range(1, 2 * cache.LookupState.USABLE_IF_ERROR.value):
        cache.LookupState(flags)
