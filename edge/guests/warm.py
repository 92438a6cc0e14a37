"""Runs every path of the core once while the component is built, so that nothing is imported or compiled at the first request.

Nothing of it stays: the keys are made up here, and the objects are dropped.
"""

from __future__ import annotations

import base64
import gc
import json

from edge.core import builtin_page, identity, pages, standing
from edge.core.calls import Answer
from edge.core.conclude import conclude
from edge.core.config import check_config
from edge.core.crawlers import check_crawlers, load_crawlers, seal
from edge.core.decide import decide
from edge.core.keyring import Keyring
from edge.core.languages import negotiate
from edge.core.messages import Context, Reply, Snapshots
from edge.core.negotiate import prefers_json
from edge.core.node import Granted, NodeCounters
from edge.core.page_set import PageSet, page_set_key, write_page_set
from edge.core.scripts import ALL
from edge.core.tokens import Pass
from edge.guests import crossing, no_random
from edge.guests.page_shelf import PageShelf

_QUEUE = {
    "id": "warm", "name": "Warm", "admit_per_minute": 6, "page": "warm", "language": "en", "countries": ["JP"],
    "routes": [{"host": "*", "path": "/w/*", "methods": ["GET"], "ignore_case": True}], "unknown_country": "enter",
    "bypass": ["/w/b"], "return_paths": ["/w/r"], "asset_extensions": ["css"], "crawlers": "hold",
    "allowed_origins": ["http://w"],
}  # fmt: skip
_ACCEPTED = ("", "*/*", "text/html", "application/json", "application/json, */*", "application/json, text/plain, */*")
TIMES = 12
# More containers than a request leaves behind: a collection in its middle would cost a fresh sandbox 80,000 steps.
_YOUNG_AT_MOST = 20_000
_EPOCH = "warmwarmwarm"


def _context() -> Context:
    ring = Keyring.parse("warm:" + base64.urlsafe_b64encode(bytes(32)).decode())
    config = check_config({"queues": [_QUEUE]})
    context = Context.make(config, ring, lambda page, language, state: pages.builtin(state), NodeCounters())
    text = seal(check_crawlers({"warm": ["198.51.100.0/24", "2001:db8::/32"]}))
    context.crawlers = lambda: load_crawlers(text)
    return context


def _request(cookie: str, target: str = "/w/%78;a=1//../y", accept: str = "text/html,*/*;q=0.8") -> str:
    lines = ["GET " + target, "scheme: http", "host: LOCALHOST:1.", "client: 127.0.0.1", "country: ", "now-ms: 1000000",
             "random: " + "5a" * 32, "kv: 1", "id: warm", "h.accept: " + accept, "h.cookie: other=1; " + cookie]  # fmt: skip
    return "\n".join(lines)


def _decide(text: str, context: Context, results: list[object]) -> None:
    request, _ = crossing.read_request(text)
    deciding = decide(request, context)
    try:
        batch = next(deciding)
        for result in results:
            crossing.write_batch(batch, "redis")
            batch = deciding.send(Reply(({"result": result},)))
    except StopIteration as done:
        crossing.write_decision(done.value)


def _warm_pages() -> None:
    """A published page, found by the visitor's language and filled."""
    pages.compile_page(builtin_page.text("waiting"))
    sealed = pages.seal("<html><head><title>w</title></head><body><p>{{ahead}}</p></body></html>\n")
    kept = {page_set_key("warm"): write_page_set(PageSet(1, 0, ("en", "ja"))), pages.page_key("warm", 1, "ja", "waiting"): sealed}
    shelf = PageShelf(kept.get, lambda event, problem: None)
    negotiate("ja-JP,ja;q=0.9,*;q=0.1", shelf.offered("warm"), "en")
    shelf.page("warm", "ja", "waiting").fill({"target_url": "/", "message": "<&>", "refresh_s": "2"})


def _run_once() -> None:
    """Newcomer, candidate, waiting, called, inside, renewed, status, leave, and the origin's answer."""
    context = _context()
    queue = context.config.queues[0]
    short = [_EPOCH, "1000000", "open", "9", "3", "9", "1", "6", ""]
    line = ["9", "3", "9", "0", "1", 1, 1, "7"]
    rest = ["open", "0", "0", "0", "0", "", "", "", "", "60000", "900", "0", "1", 1, "0", "", [line], "1000000", "0",
            "6000,600", ""]  # fmt: skip
    full = [["ok"], [*short, 2, 1, 1, 1, 5, "0", 3, "", "0000000001", 1, ["7"], *rest]]
    assert Answer.read(full).snapshot is not None, "or most of what follows would be trouble with Redis"
    asked, _ = crossing.read_request(_request(""))
    place = identity.place_cookie(queue, asked, context, "v" * 16, _EPOCH, 8, 0).partition(";")[0]
    held = Pass("warm", _EPOCH, "v" * 16, 2, 10, 9_000_000)
    admitted = identity.pass_cookie(queue, asked, context, held).partition(";")[0]
    hopeful = identity.candidate_cookie(queue, asked, context).partition(";")[0]
    inside = [["inside", "2", "9000000", "2000000"], short]
    for accept in _ACCEPTED:
        prefers_json(accept)  # what it says of these is remembered in the component
    for cookie, results in (
        ("", [full]),
        (hopeful, [[["waiting", "8"], short]]),
        (place, [full, [["called", "8", "20000", "1000"], short]]),
        (admitted, [full, inside]),
    ):
        for target in ("/w/", "/w/%78;a=1//../y", "/.stanchion/warm/status"):
            for accept in ("text/html,*/*;q=0.8", "application/json"):
                context.snapshots, context.granted = Snapshots(), Granted()
                for _ in range(2):  # the second time from memory
                    _decide(_request(cookie, target, accept), context, list(results))
        token = cookie.partition("=")[2] or "new"
        by_header = f"\nh.origin: http://w\nh.stanchion-token: {token}"
        _decide(_request("", accept="application/json") + by_header, context, list(results))
    conclude(asked, "", 200, crossing.read_answer("200\nh.cache-control: private")[1], context)
    crossing.read_replies(json.dumps([{"name": "x", "failed": "slow", "away_ms": 1, "stale": None}]))
    standing.unavailable(queue, 0).status_text()
    _warm_pages()
    assert ALL


def run() -> None:
    """Every path, as often as the interpreter needs to adapt what it runs; what it adapted is in the component."""
    for _ in range(TIMES):
        _run_once()


def settle() -> None:
    """Says that what is there now stays: a collection of garbage looks at it no more, and comes later than one request ends."""
    no_random.install()
    gc.collect()
    gc.freeze()
    gc.set_threshold(_YOUNG_AT_MOST)
