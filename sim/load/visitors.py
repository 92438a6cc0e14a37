"""Visitors as browsers are: a page, a cookie, polls as told, the turn, a few requests inside, and out."""

from __future__ import annotations

import asyncio
import math
import random
import re
import time
from collections.abc import Callable
from dataclasses import dataclass
from http.cookiejar import CookieJar, DefaultCookiePolicy
from typing import Any
from urllib.parse import urlsplit

import httpx

from edge.core.work import Challenge, solve
from sim.load.watch import Watch

TIMEOUT_S = 10.0
RETRY_S = 5.0
MOST_CONNECTIONS = 200
_COOKIE = re.compile(r"(?:__Host-|__Secure-)?stanchion-([a-z0-9-]+?)(?:\.c)?")
_WAITING = ("candidate", "waiting", "prequeue", "not_open", "paused", "closed", "sold_out", "maintenance", "unavailable")


@dataclass(frozen=True)
class Plan:
    """How many come within how long, how long all may last, and what they do. Seconds and percent."""

    people: int
    ramp_s: float
    lasts_s: float
    visit_s: float = 5.0
    closers_percent: int = 0
    seed: int = 1


class Visitor:
    """One visitor with a cookie jar of its own."""

    def __init__(self, number: int, plan: Plan, url: str, client: httpx.AsyncClient, watch: Watch,
                 now_s: Callable[[], float]) -> None:  # fmt: skip
        self._number, self._plan, self._url, self._client, self._watch = number, plan, url, client, watch
        self._now_s, self._random = now_s, random.Random(plan.seed * 1_000_003 + number)
        self._jar = httpx.Cookies()
        parts = urlsplit(url)
        self._site = f"{parts.scheme}://{parts.netloc}"
        self._task, self._solution = "", ""  # the work that a queue may ask for before a place
        self._closes_s = math.inf  # waits until the end
        if self._random.random() * 100 < plan.closers_percent:
            self._closes_s = self._random.expovariate(4 / plan.lasts_s)

    async def live(self) -> None:
        """From the first request to the last."""
        await asyncio.sleep(self._random.random() * self._plan.ramp_s)
        self._closes_s += self._now_s() if self._closes_s < self._plan.lasts_s else 0
        answer = await self._ask("page", self._url, "text/html")
        while answer is None or not self._is_inside(answer):
            if not await self._until_called():
                return
            answer = await self._ask("enter", self._url, "text/html")
        await self._visit()

    async def _until_called(self) -> bool:
        """Polls until the turn has come; False when the tab is closed before."""
        queue, poll_s = self._queue(), 1.0
        while True:
            await asyncio.sleep(max(0.2, poll_s * self._random.uniform(0.8, 1.2)))
            if self._now_s() >= self._closes_s:
                self._watch.outcomes["closed the tab"] += 1
                return False
            if queue is None:
                return True  # no cookie yet: the page reloads
            asked_s = self._now_s()
            status = self._read(await self._ask("status", f"{self._site}/.stanchion/{queue}/status", "application/json"))
            poll_s = 0.0 if await self._works(status) else float(status.get("poll_s") or RETRY_S)
            self._place(status, asked_s)
            if status.get("state") == "called" and poll_s > 1 and status.get("wait_s", {}).get("high"):
                continue  # the minute is full: poll_s says when
            if status and status.get("state") not in _WAITING:
                return True

    def _queue(self) -> str | None:
        """The queue whose token this visitor holds, or None."""
        return next((match[1] for name in self._jar if (match := _COOKIE.fullmatch(name))), None)

    def _place(self, status: dict[str, Any], asked_s: float) -> None:
        if not status.get("position") or not status.get("epoch"):
            return
        place = self._number, str(status["epoch"]), str(status.get("lane") or ""), int(status["position"])
        self._watch.placed(*place)
        if status.get("state") == "called":
            self._watch.called(*place, self._now_s())
        elif status.get("state") == "waiting":
            self._watch.waits(*place, asked_s)

    async def _works(self, status: dict[str, Any]) -> bool:
        """Does the work that the queue asks for; whether there was any to do."""
        asked = status.get("challenge")
        if not isinstance(asked, dict) or asked.get("text") == self._task:
            return False
        challenge = Challenge(str(asked["text"]), int(asked["bits"]), int(asked["count"]))
        self._task, self._solution = challenge.text, await asyncio.to_thread(solve, challenge)
        return True

    @staticmethod
    def _read(answer: httpx.Response | None) -> dict[str, Any]:
        try:
            body = answer.json() if answer is not None else {}
        except ValueError:
            return {}
        return body if isinstance(body, dict) else {}

    @staticmethod
    def _is_inside(answer: httpx.Response) -> bool:
        return "stanchion-state" not in answer.headers and answer.status_code < 500 and answer.status_code != 429

    async def _visit(self) -> None:
        queue = self._queue()
        self._watch.came_in(self._now_s(), has_token=queue is not None)
        self._watch.outcomes["came in"] += 1
        ends_s = self._now_s() + self._plan.visit_s
        while (left_s := min(ends_s, self._plan.lasts_s) - self._now_s()) > 0:
            await asyncio.sleep(min(left_s, 1.0))
            await self._ask("inside", self._url, "text/html")
        queue = self._queue() or queue
        if queue is not None:
            await self._ask("leave", f"{self._site}/.stanchion/{queue}/leave", "application/json", "POST")
        self._watch.went_out()

    async def _ask(self, kind: str, url: str, accept: str, method: str = "GET") -> httpx.Response | None:
        headers = {"accept": accept} | ({"stanchion-work": self._solution} if self._solution else {})
        if method == "POST":
            headers |= {"sec-fetch-site": "same-origin", "origin": self._site}
        request = self._client.build_request(method, url, headers=headers)
        self._jar.set_cookie_header(request)
        began_s = time.perf_counter()
        try:
            answer = await self._client.send(request)
        except httpx.HTTPError as error:
            self._watch.failed(kind, type(error).__name__)
            return None
        took_ms, says = (time.perf_counter() - began_s) * 1000, _summary(answer)
        self._watch.answered(kind, answer.status_code, took_ms, self._number, self._now_s(), says)
        self._jar.extract_cookies(answer)
        return answer


def _summary(answer: httpx.Response) -> str:
    """What the gate says of the visitor's state; the place too, where the answer is small and JSON."""
    state = answer.headers.get("stanchion-state", "")
    if answer.headers.get("content-type", "").startswith("application/json"):
        found = re.search(r'"position": ?(\d+)', answer.text[:4_000])
        state += f" {found[1]}" if found else ""
    return str(state)


async def run_load(url: str, plan: Plan, watch: Watch, progress: Callable[[int], None] = lambda count: None) -> None:
    """Lets the visitors of `plan` come; ends when all are done or the time is up. `progress` hears of each who is done."""
    began_s = time.monotonic()

    def now_s() -> float:
        return time.monotonic() - began_s

    limits = httpx.Limits(max_connections=MOST_CONNECTIONS, max_keepalive_connections=MOST_CONNECTIONS)
    # Connections are shared, cookies are not: each visitor has a jar, and the client's own takes none.
    nobodys = CookieJar(DefaultCookiePolicy(allowed_domains=[]))
    async with httpx.AsyncClient(limits=limits, timeout=TIMEOUT_S, trust_env=False, cookies=nobodys) as client:
        tasks = {asyncio.create_task(Visitor(n, plan, url, client, watch, now_s).live()) for n in range(plan.people)}
        pending = tasks
        while pending and now_s() < plan.lasts_s:
            done, pending = await asyncio.wait(pending, timeout=plan.lasts_s - now_s(), return_when=asyncio.FIRST_COMPLETED)
            progress(len(done))
        for task in pending:
            task.cancel()
        watch.outcomes["still there at the end"] += len(pending)
        for result in await asyncio.gather(*tasks, return_exceptions=True):
            if isinstance(result, Exception):
                raise result
    watch.close()
