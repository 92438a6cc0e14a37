"""The demo shop as people use it: in a browser, and the others in the line, who need none."""

from __future__ import annotations

import time
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from typing import Any

import httpx
from playwright.sync_api import Browser, BrowserContext, Page, expect

from edge.core import commands
from edge.core.calls import Answer, Call
from tests.e2e.stack import PATIENCE_S, Stack, status

WAIT_MS = PATIENCE_S * 1000
SCREEN = {"width": 1280, "height": 800}
REST_TOKEN = "rest-token-of-the-browser-tests"
RANDOM = "0" * 32


@contextmanager
def visitor(browser: Browser, **settings: Any) -> Iterator[BrowserContext]:
    """One person's browser, with no cookie yet."""
    context = browser.new_context(viewport=SCREEN, locale="en-GB", **settings)  # type: ignore[arg-type]
    context.set_default_timeout(WAIT_MS)
    try:
        yield context
    finally:
        context.close()


def see(page: Page, text: str) -> None:
    """Returns once the page shows `text`."""
    expect(page.get_by_text(text).filter(visible=True).first).to_be_visible(timeout=WAIT_MS)


def heading(page: Page, text: str) -> None:
    """Returns once the visible heading is `text`."""
    expect(page.get_by_role("heading", level=1, name=text, exact=True).filter(visible=True)).to_be_visible(timeout=WAIT_MS)


def ahead(page: Page, count: int) -> None:
    """Returns once the page says that `count` people are ahead."""
    expect(page.locator("#ahead")).to_have_text(f"{count:,}", timeout=WAIT_MS)


def has_state(page: Page, state: str) -> None:
    """Returns once the page has that state."""
    expect(page.locator("html")).to_have_attribute("data-state", state, timeout=WAIT_MS)


def in_line(stack: Stack, queue_id: str) -> httpx.Client:
    """Somebody else who waits."""
    person = stack.visitor()
    person.get(f"/{queue_id}/")
    assert status(person, queue_id)["state"] == "waiting"
    return person


def moves_up(person: httpx.Client, queue_id: str, count: int) -> None:
    """Returns once somebody else has `count` people ahead; fails after PATIENCE_S."""
    deadline = time.monotonic() + PATIENCE_S
    while (found := status(person, queue_id))["ahead"] != count:
        assert time.monotonic() < deadline, f"not {count} ahead but {found}"
        time.sleep(0.1)


def leave(person: httpx.Client, queue_id: str) -> None:
    """Somebody gives up the place, or goes."""
    assert person.post(f"/.stanchion/{queue_id}/leave", headers={"Accept": "application/json"}).json()["state"] == "ended"


def reset(stack: Stack, queue_id: str) -> None:
    """The line begins anew, for a test of its own."""
    stack.api("POST", f"/queues/{queue_id}/reset")
    becomes(stack, queue_id, waiting=0, called=0, inside=0)


def becomes(stack: Stack, queue_id: str, **numbers: int) -> None:
    """Returns once the queue has these numbers; fails after PATIENCE_S."""
    deadline = time.monotonic() + PATIENCE_S
    while (found := {name: stack.api("GET", f"/queues/{queue_id}")[name] for name in numbers}) != numbers:
        assert time.monotonic() < deadline, f"{queue_id} has {found}, not {numbers}"
        time.sleep(0.1)


def send(stack: Stack, calls: Iterable[Call]) -> list[Answer]:
    """Runs scripts of one kind in one request to Redis over REST."""
    first, *rest = list(calls)
    answers = httpx.post(f"{stack.rest}/pipeline", json=[first.eval(), *(call.evalsha() for call in rest)], timeout=60,
                         headers={"Authorization": f"Bearer {REST_TOKEN}"}).json()  # fmt: skip
    return [Answer.read(answer["result"]) for answer in answers]


def crowd(stack: Stack, queue_id: str, count: int) -> None:
    """So many people join the line."""
    joins = [commands.join(queue_id, f"crowd-{number:06d}", RANDOM) for number in range(1, count + 1)]
    answers = send(stack, joins)
    assert {answer.verdict for answer in answers} <= {"waiting", "called"}
    assert answers[-1].number(0) == count


def crowd_leaves(stack: Stack, queue_id: str, positions: Iterable[int]) -> None:
    """These of the crowd give up their places."""
    epoch = stack.api("GET", f"/queues/{queue_id}")["epoch"]
    send(stack, (commands.end(queue_id, epoch, at, f"crowd-{at:06d}", "left", RANDOM) for at in positions))
