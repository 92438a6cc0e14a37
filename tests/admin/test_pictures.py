"""Every room of the console as a person sees it: axe finds nothing, nothing is wider than the screen, nothing is left in English.

STANCHION_SCREENSHOTS names a folder for the pictures of docs/console.md (docs/images).
"""

from __future__ import annotations

import re
import time
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

import pytest

from admin.access.permissions import MARKETER, OPERATOR, OWNER, VIEWER
from admin.limits import configured
from admin.queue_view import view
from admin.store import Reading
from edge.core import commands
from edge.core.calls import Answer
from tests.admin.conftest import PASSWORD, Admin
from tests.admin.looks import LAPTOP, PHONE, axe_text, chromium, enter, faults, picture, tab
from tests.admin.sale import run_sale
from tests.admin.world import config_text, queue_json, queues_of

if TYPE_CHECKING:
    from playwright.sync_api import Browser, Page

TOUR = queue_json("summer-tour", name="Summer Tour", admit_per_minute=240, max_active=900, page="concert",
                  routes=[{"path": "/tour/*"}])  # fmt: skip
OTHERS = (
    queue_json("sneaker-drop", name="Sneaker drop", admit_per_minute=120, inventory=400, page="shop"),
    queue_json("members", name="Members’ presale", manual=True, max_active=200),
    queue_json("autumn", name="Autumn tour"),
)
# Rooms, and the names of their pictures.
ROOMS = {
    "/queues/summer-tour": "queue", "/": "queues", "/queues/summer-tour/limits": "limits", "/queues/autumn": "queue-missing",
    "/queues/members/reset": "reset", "/queues/sneaker-drop/confirm-drain": "confirm", "/schedule": "schedules",
    "/schedule/summer-tour": "schedule", "/rehearsals/summer-tour": "rehearsals", "/pages": "brands",
    "/pages/shop/look": "studio", "/pages/shop/words": "studio-words", "/pages/shop/source": "studio-source",
    "/pages/shop/history": "studio-history", "/configuration": "settings", "/configuration/json": "settings-json",
    "/configuration/queues/summer-tour": "settings-form", "/configuration/history": "settings-history",
    "/configuration/transfer": "transfer", "/people": "people", "/tokens": "tokens",
    "/configuration/explain?url=/tour/dates&country=JP": "tester", "/audit": "audit", "/account": "account",
}  # fmt: skip
ON_LAPTOP = {name: f"console-{name}" for name in ("queues", "queue", "schedule", "settings-form", "tester", "studio", "audit")}
# What a page says, without what people have written and without the words of the waiting pages.
_READ = """() => { const copy = document.querySelector("body").cloneNode(true);
  for (const e of copy.querySelectorAll("script, style, svg, code, pre, textarea, option, template, [lang=en]")) e.remove();
  const texts = [], walk = document.createTreeWalker(copy, NodeFilter.SHOW_TEXT);
  while (walk.nextNode()) texts.push(walk.currentNode.data.replace(/\\s+/g, " "));
  return texts.join("|"); }"""
# Three English words in a row that are no name, key or address.
_ENGLISH = re.compile(r"(?<![\w/.“-])(?:[A-Z]?[a-z]{2,} ){2,}[a-z]{2,}(?![\w/-])")


@pytest.fixture(scope="module")
def browser() -> Iterator[Browser]:
    with chromium() as started:
        yield started


@pytest.fixture(scope="module")
def axe() -> str:
    return axe_text()


@pytest.fixture
def house(admin: Admin) -> Admin:
    """A sale in full swing, a paused one, a manual one and one that never ran; people, steps to come and a history."""
    admin.publish(*OTHERS)
    admin.start("sneaker-drop", "members")
    admin.visitors.join(admin.queues["members"], 640)
    admin.visitors.join(admin.queues["sneaker-drop"], 900)
    admin.visitors.run(commands.control("sneaker-drop", "pause", "p", "0" * 32))
    history, queue, off_s = admin.app.state.desk.watch.history, queues_of(config_text(TOUR))[0], admin.clock.ahead_s + 2

    def keep(seen: Answer, now_ms: int) -> None:
        history.add(view(queue, Reading(seen, configured(queue), {})), now_ms / 1000 + off_s)

    run_sale(admin.visitors, queue, int(time.time() * 1000), keep)
    admin.publish(TOUR, *OTHERS)
    for name, role in (("mai@example.org", OWNER), ("ken", OPERATOR), ("yuki", MARKETER), ("support", VIEWER)):
        admin.person(name, role)
    begin_s = int(admin.clock.unix_s()) // 3600 * 3600 + 7200
    for minutes, what in ((0, {"admit_per_minute": 300}), (30, {"admit_per_minute": 480}), (90, {"admit_per_minute": 120})):
        at = time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime(begin_s + 60 * minutes))
        assert admin.api("POST", "/queues/summer-tour/schedule", json={"at": at, "changes": what}).status_code == 201
    admin.api("PATCH", "/queues/summer-tour/limits", json={"admit_per_minute": 260})
    admin.api("POST", "/queues/members/admit", json={"count": 40})
    return admin


_STICKS_OUT = """() => [...document.querySelectorAll(".panel input, .panel select, .panel textarea, .panel button")].filter(e => {
  const box = e.getBoundingClientRect(), panel = e.closest(".panel").getBoundingClientRect();
  return e.checkVisibility() && (box.right > panel.right + 1 || box.left < panel.left - 1) && !e.closest(".table-wrap");
}).map(e => `${e.name || e.textContent} sticks out of its panel`)"""


def wrong(page: Page, axe: str, language: str) -> list[Any]:
    """What axe finds, what is wider than the screen or its panel, and what a Japanese reader would find in English."""
    english = _ENGLISH.findall(page.evaluate(_READ)) if language == "ja" else []
    return [*faults(page, axe), *page.evaluate(_STICKS_OUT), *(f"in English: {text}" for text in english)]


@pytest.mark.parametrize(("size", "scheme", "language"), [(LAPTOP, "light", "en"), (PHONE, "dark", "ja")])
def test_every_room(house: Admin, browser: Browser, axe: str, size: dict[str, int], scheme: Any, language: str) -> None:
    in_docs = ON_LAPTOP if language == "en" else {"queue": "console-queue-phone-ja"}
    found: dict[str, Any] = {}
    with tab(browser, size=size, scheme=scheme, locale=language, timezone_id="UTC") as page:
        page.goto(f"{house.url}/sign-in")
        if language == "en":
            picture(page, "console-sign-in", whole=False)
        enter(page, house, "mai@example.org", PASSWORD)
        for path, name in ROOMS.items():
            page.goto(house.url + path)
            found[path] = wrong(page, axe, language)
            if name in in_docs:
                picture(page, in_docs[name], whole=False)
        if language == "en":
            page.emulate_media(color_scheme="dark")
            page.goto(f"{house.url}/")
            picture(page, "console-queues-dark", whole=False)
    assert {path: each for path, each in found.items() if each} == {}
