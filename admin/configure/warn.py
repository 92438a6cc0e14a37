"""What a configuration would hold that should not wait in line: calls of servers, health checks, files that machines fetch.

Nothing here is wrong by itself, so nothing is refused: whether a site has such an address only its people know. A queue whose
`bypass` has an address of a kind is taken to have thought of that kind.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from functools import cached_property

from admin.words import N_, gettext
from edge.core.config import Config
from edge.core.model import Queue, Route
from edge.core.routing import Match, Router
from edge.core.spelling import path_of

# Parts of a path below which shops keep what payment providers call.
_SHOPPING = re.compile(r"/(api|basket|billing|cart|checkout|orders?|pay|payments?|shop|store)(?=/)", re.IGNORECASE)
# The host of rules for any host, when one has to be asked about; reserved by RFC 2606.
_ANY_HOST = "site.example"
_NAMED_AT_MOST = 4
# Without these no page of today looks right.
_PARTS_OF_PAGES = ("css", "js", "mjs", "svg", "png", "jpg", "jpeg", "webp", "gif", "woff2", "woff", "ico")


@dataclass(frozen=True)
class Warning_:
    """Something that `rule` of a queue would hold. `url`: an example.

    `message`, `hint`: what it is, and what to write where, as messages of the catalogue; `values`: what fits into them.
    """

    queue_id: str
    message: str
    url: str
    hint: str
    rule: str = ""
    values: Mapping[str, str] = field(default_factory=dict)

    @property
    def what(self) -> str:
        """What it is, in English."""
        return self.message % self.values

    @property
    def advice(self) -> str:
        """What to write where, in English."""
        return self.hint % self.values

    @property
    def words(self) -> str:
        """The warning as one text, in English."""
        by = f" (rule {self.rule})" if self.rule else ""
        return f"queue {self.queue_id}{by}: {self.url}: {self.what}; {self.advice}"

    @property
    def spoken(self) -> str:
        """The same in the language of the request."""
        values = {
            "queue": self.queue_id, "rule": self.rule, "url": self.url,
            "what": gettext(self.message) % self.values, "advice": gettext(self.hint) % self.values,
        }  # fmt: skip
        if not self.rule:
            return gettext("queue %(queue)s: %(url)s: %(what)s; %(advice)s") % values
        return gettext("queue %(queue)s (rule %(rule)s): %(url)s: %(what)s; %(advice)s") % values


@dataclass(frozen=True)
class _Kind:
    """A kind of request that does not wait.

    `examples`: address, and the bypass that frees it; `below`: the same below the paths in which shops keep them.
    """

    message: str
    method: str
    pattern: str
    examples: tuple[tuple[str, str], ...]
    below: tuple[tuple[str, str], ...] = ()

    @cached_property
    def is_one(self) -> Callable[[str], object]:
        """Whether a path is one of this kind."""
        return re.compile(self.pattern, re.IGNORECASE).search


_KINDS = (
    _Kind(N_("servers call such an address, without cookies, and give up or repeat when it answers 503 while people queue"),
          "POST",
          r"/(web)?hooks?([/*_-]|$)|/(callbacks?|ipn|notify|notifications?|postback|stripe|paypal|adyen|klarna|mollie)([/*]|$)",
          (("/webhook", "/webhook*"), ("/webhooks/orders", "/webhook*"), ("/callback", "/callback*"), ("/ipn", "/ipn*"),
           ("/stripe/webhook", "/stripe/*"), ("/paypal/ipn", "/paypal/*"), ("/api/webhooks", "/api/webhooks*"),
           ("/api/payment/notify", "/api/payment/notify*"), ("/payment/callback", "/payment/callback*")),
          (("webhook", "webhook*"), ("callback", "callback*"), ("ipn", "ipn*"))),
    _Kind(N_("a load balancer or a monitor that asks here takes the site for down while people queue"),
          "GET", r"/(health(z|check)?|livez?|readyz?|ping|up|status|actuator|metrics|heartbeat)([/*]|$)",
          (("/healthz", "/healthz"), ("/health", "/health*"), ("/readyz", "/readyz"), ("/livez", "/livez"), ("/ping", "/ping"),
           ("/up", "/up"), ("/api/health", "/api/health*"), ("/actuator/health", "/actuator/*"), ("/metrics", "/metrics"))),
    _Kind(N_("machines fetch it: certificates, app links and search engines depend on it"),
          "GET", r"^/(\.well-known/|robots\.txt$|sitemap[^/]*\.xml$|(app-)?ads\.txt$|apple-app-site-association$)",
          (("/.well-known/acme-challenge/token", "/.well-known/*"), ("/robots.txt", "/robots.txt"),
           ("/sitemap.xml", "/sitemap.xml"))),
)  # fmt: skip


def warnings(configuration: Config) -> tuple[Warning_, ...]:
    """Everything of the kinds above that the rules of a configuration would hold, one warning for each kind, queue and rule."""
    router, found = Router(configuration), dict[tuple[str, str, str], Warning_]()
    for queue in configuration.queues:
        for route in queue.routes:
            for warning in (*_held_kinds(queue, route, router), *_held_assets(queue, route, router)):
                found.setdefault((queue.id, warning.rule, warning.what), warning)
        for warning in _sign_in(queue, router):
            found.setdefault((queue.id, warning.rule, warning.what), warning)
    return (*found.values(), *_half_keyed(configuration))


def warning_about(queue: Queue, method: str, target: str, rule: str = "") -> Warning_ | None:
    """The warning about one request that a queue holds; None for one that may well wait."""
    path = path_of(target)
    for kind in _KINDS:
        is_called = kind.method == "GET" or method not in ("GET", "HEAD", "OPTIONS")
        if is_called and kind.is_one(path):
            return Warning_(queue.id, kind.message, path, N_("if so, add %(paths)s to bypass"), rule, {"paths": _quoted((path,))})
    return None


def _host_of(route: Route) -> str:
    return _ANY_HOST if route.host == "*" else route.host.replace("*.", "www.")


def _url(route: Route, path: str) -> str:
    return path if route.host == "*" else f"https://{_host_of(route)}{path}"


def _holds(queue: Queue, match: Match | None) -> bool:
    return match is not None and queue.id in match.rules and queue.id not in match.exempt


def _held_kinds(queue: Queue, route: Route, router: Router) -> Iterator[Warning_]:
    for kind in _KINDS:
        if any(kind.is_one(pattern) for pattern in queue.bypass):
            continue
        held = [(path, bypass, match) for path, bypass in _examples(kind, route)
                if _holds(queue, match := router.match(_host_of(route), path, kind.method))]  # fmt: skip
        by_rule: dict[str, list[tuple[str, str]]] = {}
        for path, bypass, match in held:
            assert match is not None
            by_rule.setdefault(match.rules[queue.id], []).append((path, bypass))
        for rule, ones in by_rule.items():
            hint = N_("if the site has such addresses, add them to bypass: %(paths)s")
            values = {"paths": _quoted(dict.fromkeys(bypass for _path, bypass in ones))}
            yield Warning_(queue.id, kind.message, f"{kind.method} {_url(route, ones[0][0])}", hint, rule, values)


def _examples(kind: _Kind, route: Route) -> Iterator[tuple[str, str]]:
    yield from kind.examples
    prefix = route.path.removesuffix("*")
    if route.path.endswith("/*") and _SHOPPING.search(prefix):
        yield from ((prefix + path, prefix + bypass) for path, bypass in kind.below)


def _held_assets(queue: Queue, route: Route, router: Router) -> Iterator[Warning_]:
    """Files of pages that are held since `asset_extensions` leaves their extension out."""
    if not route.path.endswith("*"):
        return
    start = f"{route.path.removesuffix('*').rstrip('/')}/page."
    held = [extension for extension in _PARTS_OF_PAGES if extension not in queue.asset_extensions
            and _holds(queue, router.match(_host_of(route), start + extension, "GET"))]  # fmt: skip
    if held:
        match = router.match(_host_of(route), start + held[0], "GET")
        assert match is not None
        message = N_("files of pages are held, so that pages which are not behind the queue look broken while people queue")
        hint, values = N_("add to asset_extensions: %(extensions)s"), {"extensions": _quoted(held)}
        yield Warning_(queue.id, message, f"GET {_url(route, start + held[0])}", hint, match.rules[queue.id], values)


def _sign_in(queue: Queue, router: Router) -> Iterator[Warning_]:
    """Who has to sign in must be able to get there."""
    url = queue.sign_in_url
    if url is None:
        return
    hosts = [url.partition("://")[2].partition("/")[0]] if "://" in url else [_host_of(route) for route in queue.routes]
    for host in hosts:
        match = router.match(host, path_of(url), "GET")
        if match is not None and not match.is_all_exempt:
            holder, rule = next(pair for pair in match.rules.items() if pair[0] not in match.exempt)
            message = N_("the page that asks visitors to sign in sends them here, where queue %(holder)s holds them")
            hint = N_("add %(paths)s to its bypass, with all that signing in needs")
            yield Warning_(queue.id, message, f"GET {url}", hint, rule, {"holder": holder, "paths": _quoted((path_of(url),))})
            return


def _half_keyed(configuration: Config) -> Iterator[Warning_]:
    """A group is no stricter than its most lenient queue."""
    for group in configuration.groups:
        members = [queue for queue in configuration.queues if queue.id in group.queues]
        strict = [queue for queue in members if queue.visitor_key_required]
        for queue in members:
            if strict and not queue.visitor_key_required:
                message = N_("places of the group %(group)s are given here without an account")
                hint = N_("set visitor_key and visitor_key_required as in queue %(other)s")
                values = {"group": group.id, "other": strict[0].id}
                yield Warning_(queue.id, message, queue.routes[0].path, hint, values=values)


def _quoted(values: Iterable[str]) -> str:
    named = [f'"{value}"' for value in values]
    more = f" and {len(named) - _NAMED_AT_MOST} more" if len(named) > _NAMED_AT_MOST else ""
    return ", ".join(named[:_NAMED_AT_MOST]) + more
