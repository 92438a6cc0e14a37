"""The gate's own answers: held pages and JSON with the headers that keep them out of every cache."""

from __future__ import annotations

import base64
import json
from functools import lru_cache

from edge.core import cors, pages, problems
from edge.core.admission import WaitRange
from edge.core.cookies import LANGUAGE_COOKIE
from edge.core.languages import MAX_HEADER_CHARS, negotiate
from edge.core.messages import Context, Request, Respond
from edge.core.model import Queue
from edge.core.negotiate import prefers_json
from edge.core.promises import promises
from edge.core.standing import Standing, moment
from edge.core.token_header import handed

NO_STORE = (
    ("Cache-Control", "private, no-store"),
    ("CDN-Cache-Control", "no-store"),
    ("Surrogate-Control", "no-store"),
    ("X-Robots-Tag", "noindex"),
)
_JSON_HEADERS = (("Content-Type", "application/json"), *NO_STORE)
_PROBLEM_HEADERS = (("Content-Type", problems.MEDIA_TYPE), *NO_STORE)
FIRST_REFRESH_S = 2  # without JavaScript a candidate's cookie comes back this soon
_MINUTE_S = 60
_HOUR_MIN = 60
_ERRORS = (401, 403, 429, 503)
# States in which a held answer is an error, whatever held_status says.
HELD_ERRORS = {"unavailable": 503, "sign_in": 401, "had_visit": 403}

Extra = tuple[tuple[str, str], ...]


def json_answer(status: int, value: object, why: str, extra: Extra = ()) -> Respond:
    """A JSON answer that nothing may store."""
    text = value if isinstance(value, str) else json.dumps(value, separators=(",", ":"))
    return Respond(status, (*_JSON_HEADERS, *extra), text, why)


def problem(request: Request, status: int, error: str, detail: str, extra: Extra = ()) -> Respond:
    """A client's mistake at one of our own paths, as problem details."""
    text = problems.problem_text(status, detail, error)
    answer = Respond(status, (*_PROBLEM_HEADERS, *extra), text, f"reserved path: {error}")
    return _without_body(answer) if request.method == "HEAD" else answer


def _status_json(standing: Standing, code: int, why: str, extra: Extra, *, is_error: bool) -> Respond:
    """The status JSON; where the answer is an error and no mere wait, with the members of problem details behind its own."""
    if not is_error:
        return json_answer(code, standing.status_text(), why, extra)
    if standing.page == "form":
        detail, error = problems.NOT_SENT, "not sent"
    elif standing.state in problems.OF_STATES:
        detail, error = problems.OF_STATES[standing.state]
    else:
        detail, error = problems.TOO_MANY, "too many requests"
    return Respond(code, (*_PROBLEM_HEADERS, *extra), problems.problem_text(code, detail, error, standing.status_text()), why)


def _extra(standing: Standing, request: Request, varies: str, set_cookies: tuple[str, ...]) -> Extra:
    """The headers of every answer that says where someone stands."""
    queue = standing.queue
    # RFC 9110, section 15.5.2: a 401 names a way; the site's own decides which.
    challenge = (("WWW-Authenticate", f'Bearer realm="{queue.id}"'),) if standing.state == "sign_in" else ()
    return (("Retry-After", str(standing.poll_s)), ("Stanchion-State", standing.state), *challenge, cors.vary(queue, varies),
            *cors.headers(queue, request), *handed(request, set_cookies))  # fmt: skip


def wants_json(request: Request) -> bool:
    """Whether the client reads JSON rather than a page."""
    return prefers_json(request.header("accept"))


_NO_WAIT = dict.fromkeys(("wait_low_min", "wait_high_min", "wait_low", "wait_high", "wait_unit"), "")


def _wait(wait: WaitRange | None) -> dict[str, str]:
    """The expected wait in minutes; and as people say it, from an hour on in hours. Rounded outwards."""
    if wait is None:
        return _NO_WAIT
    low, high = wait.low_s // _MINUTE_S, max(1, -(-wait.high_s // _MINUTE_S))
    said = (low, high, "min") if low < _HOUR_MIN else (low // _HOUR_MIN, -(-high // _HOUR_MIN), "h")
    return dict(zip(_NO_WAIT, map(str, (low, high, *said)), strict=True))


def _values(standing: Standing, request: Request, nonce: str) -> dict[str, str]:
    queue, wait = standing.queue, standing.wait
    iso = moment(request.now_ms)  # not of the scripts' clock: people compare it with the one on their wall
    return {
        "queue_name": queue.name,
        "queue_id": queue.id,
        "state": standing.state,
        "position": "" if standing.position is None else str(standing.position),
        "ahead": "" if standing.ahead is None else str(standing.ahead),
        "wait_known": "yes" if wait else "no",
        **_wait(wait),
        "poll_s": str(standing.poll_s),
        "refresh_s": str(max(FIRST_REFRESH_S, standing.poll_s)),
        "claim_left_s": str(standing.claim_left_s),
        "claim_left_clock": f"{standing.claim_left_s // 60}:{standing.claim_left_s % 60:02}",
        "retry_s": str(standing.poll_s),
        "updated_iso": iso,
        "updated_utc": iso[11:19],
        "status_url": f"/.stanchion/{queue.id}/status",
        "leave_url": f"/.stanchion/{queue.id}/leave",
        "target_url": request.target,
        "nonce": nonce,
        "status_json": standing.status_text(),
        "request_id": request.request_id,
        "message": standing.message,
        "arrival_number": "" if standing.arrival is None else str(standing.arrival),
        "drawn": "yes" if standing.drawn else "no",
        "draw_url": standing.draw_url,
        "lane": standing.lane,
        "sign_in_url": standing.sign_in_url,
        "work": "no" if standing.challenge is None else "yes",
        **_opening(standing),
        **promises(queue),
    }


_NO_OPENING = {"opens_iso": "", "opens_utc": "", "opens_in_s": ""}


def _opening(standing: Standing) -> dict[str, str]:
    """When the line opens; the time left by the clock of the scripts, which is the one that opens it."""
    opens_at_ms = standing.opens_at_ms
    if opens_at_ms is None:
        return _NO_OPENING
    iso = moment(opens_at_ms)
    left_s = max(0, -(-(opens_at_ms - standing.now_ms) // 1000))
    return {"opens_iso": iso, "opens_utc": f"{iso[:10]} {iso[11:16]}", "opens_in_s": str(left_s)}


def held(standing: Standing, request: Request, context: Context, why: str, *, status: int | None = None,
         set_cookies: tuple[str, ...] = ()) -> Respond:  # fmt: skip
    """The held answer to a request for the site: the page, or the status JSON for who prefers that. HEAD gets no body."""
    queue = standing.queue
    code = queue.held_status if status is None else status
    extra = _extra(standing, request, "Accept, Accept-Language, Cookie, Stanchion-Token", set_cookies)
    if wants_json(request):
        answer = _status_json(standing, code, why, extra, is_error=status is not None and status in _ERRORS)
    else:
        nonce = _nonce(request)
        language = _language(request, context, queue)
        page = context.page(queue.page, language, standing.page or pages.page_state(standing.state))
        headers = (*_page_headers(nonce), ("Content-Language", page.language or language), *extra)
        answer = Respond(code, headers, page.fill_bytes(_values(standing, request, nonce)), why)
    return _without_body(answer) if request.method == "HEAD" else answer


def come_back(answer: Respond, retry_s: int) -> Respond:
    """The same answer for a crawler: 503, which keeps a page in the index, and not before `retry_s`."""
    headers = tuple((name, str(retry_s) if name == "Retry-After" else value) for name, value in answer.headers)
    return Respond(503, headers, answer.body, answer.why)


def _language(request: Request, context: Context, queue: Queue) -> str:
    """The one that the visitor chose or reads, among those that the brand's pages are published in; else the queue's."""
    offered = tuple(context.offered(queue.page))
    if not offered:
        return queue.language
    chosen = context.cookies.read(request.header("cookie")).values(LANGUAGE_COOKIE)
    if chosen and chosen[-1] in offered:
        return chosen[-1]
    default = queue.language if queue.language in offered else offered[0]
    return _negotiated(request.header("accept-language")[: MAX_HEADER_CHARS + 1], offered, default)


_negotiated = lru_cache(maxsize=256)(negotiate)


def _nonce(request: Request) -> str:
    return base64.b64encode(bytes.fromhex(request.random[40:64])).decode()


def _page_headers(nonce: str) -> Extra:
    return (("Content-Type", "text/html; charset=utf-8"), *NO_STORE,
            ("Content-Security-Policy", pages.content_security_policy(nonce)), ("Referrer-Policy", "same-origin"))  # fmt: skip


def _without_body(answer: Respond) -> Respond:
    return Respond(answer.status, answer.headers, "", answer.why)


_ALWAYS_THERE = ("queue", "position", "ahead", "wait_s", "epoch", "claim_left_s", "opens_at", "message", "arrival", "draw",
                 "lane", "sign_in", "challenge")  # fmt: skip


def without_configuration(request: Request, why: str, retry_s: int) -> Respond:
    """The held answer when it is not known which queue guards what: the built-in page, or the status JSON of no queue."""
    extra: Extra = (("Retry-After", str(retry_s)), ("Stanchion-State", "unavailable"), ("Vary", "Accept"))
    if wants_json(request):
        unknown = dict.fromkeys(_ALWAYS_THERE)
        status = json.dumps({**unknown, "state": "unavailable", "poll_s": retry_s, "now": request.now_ms}, separators=(",", ":"))
        text = problems.problem_text(503, problems.UNAVAILABLE, "unavailable", status)
        answer = Respond(503, (*_PROBLEM_HEADERS, *extra), text, why)
    else:
        nonce = _nonce(request)
        # What was typed must not vanish behind a page that looks like an answer.
        page = pages.builtin("unavailable" if request.method in ("GET", "HEAD", "OPTIONS") else "form")
        values = {"state": "unavailable", "target_url": request.target, "request_id": request.request_id, "nonce": nonce,
                  **dict.fromkeys(("poll_s", "refresh_s", "retry_s"), str(retry_s))}  # fmt: skip
        answer = Respond(503, (*_page_headers(nonce), *extra), page.fill_bytes(values), why)
    return _without_body(answer) if request.method == "HEAD" else answer


def status_answer(standing: Standing, request: Request, why: str, set_cookies: tuple[str, ...] = (), *,
                  status: int = 200) -> Respond:  # fmt: skip
    """The answer of the status endpoint."""
    extra = _extra(standing, request, "Cookie, Stanchion-Token", set_cookies)
    return _status_json(standing, status, why, extra, is_error=status in _ERRORS)
