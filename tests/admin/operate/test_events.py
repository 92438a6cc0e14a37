"""Pages that are kept current by events: the same values as asking, only what has changed, and an end with the session."""

from __future__ import annotations

import json
from collections.abc import Iterator

import httpx
import pytest

from admin.console import events
from admin.console.events import changes
from tests.admin.conftest import Admin, Browser


def test_only_what_has_changed_is_said() -> None:
    before = {"text": {"a": "1", "b": "2"}, "attr": {"x": {"d": "M"}}, "hidden": {}, "stale": False, "shape": "s", "table": [1]}
    now = {"text": {"a": "1", "b": "3"}, "attr": {"x": {"d": "M"}}, "hidden": {}, "stale": True, "shape": "s", "table": [1]}
    assert changes({}, before) == before
    assert changes(before, now) == {"text": {"b": "3"}, "attr": {}, "hidden": {}, "stale": True, "shape": "s"}


def _told(answer: httpx.Response) -> Iterator[dict[str, object]]:
    for line in answer.iter_lines():
        if line.startswith("data: "):
            yield json.loads(line.removeprefix("data: "))


@pytest.mark.parametrize("path", ["/queues/sale", "/"])
def test_events_say_what_asking_says(admin: Admin, browser: Browser, path: str) -> None:
    admin.start()
    admin.visitors.join(admin.queues["sale"], 12)
    live, waiting = (f"{path}/live", "waiting") if path != "/" else ("/live", "sale.waiting")
    asked = browser.client.get(live).json()
    with browser.client.stream("GET", live.replace("live", "events")) as answer:
        assert answer.headers["content-type"].startswith("text/event-stream")
        assert answer.headers["cache-control"] == "no-store"
        told = _told(answer)
        first = next(told)
        assert set(first["text"]) == set(asked["text"])  # type: ignore[call-overload]
        assert first["text"][waiting] == asked["text"][waiting]  # type: ignore[index]
        second = next(told)
        assert len(second["text"]) < len(first["text"]) / 2  # type: ignore[arg-type]


def test_a_stream_ends_with_the_session(admin: Admin, browser: Browser, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(events, "ASK_AGAIN_S", 0.5)
    admin.start()
    with browser.client.stream("GET", "/queues/sale/events") as answer:
        told = _told(answer)
        next(told)
        token = admin.anyone()
        with token as client:
            client.cookies = browser.client.cookies
            page = client.get("/").text
            csrf = page.partition('name="csrf" value="')[2].partition('"')[0]
            assert client.post("/sign-out", data={"csrf": csrf}).status_code == 303
        assert len(list(told)) < 10


def test_too_many_streams_are_sent_away_to_ask(admin: Admin, browser: Browser, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(events, "STREAMS_AT_MOST", 0)
    admin.start()
    assert browser.client.get("/queues/sale/events").status_code == 503
    assert browser.client.get("/queues/none/events").status_code == 404
