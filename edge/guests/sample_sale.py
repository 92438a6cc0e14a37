"""A small sale that is made up: what guests serve while they are built, so that every path was run before the first request.

Nothing of it stays but what the interpreter has adapted.
"""

from __future__ import annotations

import base64
import json
import time
from collections.abc import Callable
from dataclasses import replace
from typing import Any

from edge.core import builtin_page, identity, pages, scripts
from edge.core.admission import BEAT_MS
from edge.core.config import CONFIG_KEY, check_config
from edge.core.keyring import Keyring
from edge.core.messages import Context, Request
from edge.core.node import NodeCounters
from edge.core.page_set import PageSet, page_set_key, write_page_set
from edge.core.sealed import seal
from edge.core.tokens import Pass

HOST = "w.example"
KEYS = "warm:" + base64.urlsafe_b64encode(bytes(32)).decode()
# What is asked for, by whom, with which Accept, and the status of the answer.
REQUESTS = (
    ("/about", "nobody", "text/html", 200), ("/calm/", "inside", "text/html", 200), ("/calm/", "nobody", "text/html", 200),
    ("/calm/", "long inside", "text/html", 200),
    ("/busy/", "nobody", "text/html,*/*;q=0.8", 503), ("/busy/", "hopeful", "text/html", 503),
    ("/busy/", "in line", "text/html", 503), ("/.stanchion/busy/status", "in line", "application/json", 200),
    ("/busy/", "long in line", "text/html", 503), ("/.stanchion/busy/status", "long in line", "application/json", 200),
)  # fmt: skip
_MINUTE_MS, _HOUR_MS = 60_000, 3_600_000
_EPOCH = "warmwarmwarm"
_QUEUES = [
    {"id": name, "name": "Warm", "admit_per_minute": 6, "page": "warm", "routes": [{"path": f"/{name}/*"}]}
    for name in ("busy", "calm")
]


def _now_ms() -> int:
    return time.time_ns() // 1_000_000


def store() -> dict[str, bytes]:
    """Configuration and pages, as they are published."""
    kept = {CONFIG_KEY: seal({"queues": _QUEUES}), page_set_key("warm"): write_page_set(PageSet(1, 0, ("en",))),
            pages.page_key("warm", 1, "en", "waiting"): pages.seal(builtin_page.text("waiting"))}  # fmt: skip
    return {key: text.encode() for key, text in kept.items()}


def cookies() -> dict[str, str]:
    """The Cookie headers of somebody inside, in line, with a candidate's cookie, and with nothing."""
    now_ms = _now_ms()
    config = check_config({"queues": _QUEUES})
    context = Context.make(config, Keyring.parse(KEYS), lambda page, language, state: pages.builtin(state), NodeCounters())
    asked = Request("GET", "/", "http", HOST, "", "", now_ms, "5a" * 32, "")
    busy, calm = config.queues
    held = Pass("calm", _EPOCH, "v" * 16, 2, now_ms + _HOUR_MS, now_ms + 2 * _HOUR_MS)
    made = {
        "inside": identity.pass_cookie(calm, asked, context, held),
        "long inside": identity.pass_cookie(calm, asked, context, replace(held, renew_at_ms=now_ms - _MINUTE_MS)),
        "in line": identity.place_cookie(busy, asked, context, "v" * 16, _EPOCH, 9, now_ms),
        "long in line": identity.place_cookie(busy, asked, context, "v" * 16, _EPOCH, 9, now_ms - BEAT_MS - _MINUTE_MS),
        "hopeful": identity.candidate_cookie(busy, asked, context),
    }
    return {name: "other=1; " + cookie.partition(";")[0] for name, cookie in made.items()} | {"nobody": ""}


def redis(body: bytes) -> bytes:
    """What Redis answers to POST /pipeline."""
    told = [{"result": _ANSWERS[command[1]]("{busy}" in command[3])} for command in json.loads(body)]
    return json.dumps(told).encode()


def local(guest: Any, path: str, cookie: str, accept: str) -> str:
    """The first line of how a request ends with the guest of the local edge (wit/gatekeeper.wit)."""
    asked = "\n".join([f"GET {path}", "scheme: http", f"host: {HOST}", "client: 192.0.2.1", "country: JP", f"now-ms: {_now_ms()}",
                       "random: " + "5a" * 32, "kv: 1", "id: warm", f"h.accept: {accept}", f"h.cookie: {cookie}"])  # fmt: skip
    replies: list[dict[str, Any]] = []
    while (told := guest.decide(asked, json.dumps(replies) if replies else "")).startswith("commands\n"):
        head, _, body = told.partition("\n\n")
        name = head.split("\n")[1].removeprefix("name: ")
        replies.append({"name": name, "results": json.loads(redis(body.encode())), "age_ms": 0})
    first, _, rest = told.partition("\n")
    if first == "forward" and "conclude: " in rest:
        context = rest.partition("conclude: ")[2].partition("\n")[0]
        guest.conclude(asked, context, "200\nh.content-type: text/html")
    return str(first)


def snapshot(is_busy: bool) -> list[Any]:
    """The answer to the script of the snapshot."""
    rest = ["open", "0", "0", "0", "0", "", "", "", "", "60000", "900", "0", "1", 1, "0", "", [], "1000000", "0", "", ""]
    return [["ok"], [*_short(is_busy), 2 if is_busy else 0, 1, 1, 1, 5, "0", 3, "", "", 1, [], *rest]]


def _short(is_busy: bool) -> list[Any]:
    return [_EPOCH, str(_now_ms()), "open", "9", "3" if is_busy else "9", "9", "1", "6", ""]


def _joined(is_busy: bool) -> list[Any]:
    now_ms = _now_ms()
    details = ["waiting", "8"] if is_busy else ["inside", "9", str(now_ms + _HOUR_MS), str(now_ms + _HOUR_MS // 2)]
    return [details, _short(is_busy)]


_ANSWERS: dict[str, Callable[[bool], list[Any]]] = {
    scripts.SNAPSHOT.sha["redis"]: snapshot,
    **{script.sha["redis"]: _joined for script in (scripts.JOIN, scripts.TOUCH, scripts.RENEW)},
    scripts.LOOK.sha["redis"]: lambda is_busy: [_joined(is_busy)[0], snapshot(is_busy)[1]],
}
