"""The preview: every look of every brand, faults named, nothing but templates."""

from __future__ import annotations

import re
import shutil
import threading
import time
from collections.abc import Iterator
from pathlib import Path

import pytest
import uvicorn
from starlette.testclient import TestClient

from admin.publish import preview
from admin.publish.pictures import PICTURES
from admin.publish.preview import LOOKS, application, brands
from edge.core.pages import STATES
from tests.admin.publish.visitor import chromium

TEMPLATES = Path(__file__).parents[3] / "templates"


@pytest.fixture
def templates(tmp_path: Path) -> Path:
    return Path(shutil.copytree(TEMPLATES, tmp_path / "templates"))


@pytest.fixture
def client(templates: Path) -> Iterator[TestClient]:
    with TestClient(application(templates)) as started:
        yield started


def test_the_index_has_a_frame_for_every_look_of_every_brand(client: TestClient) -> None:
    frames = re.findall(r'src="/page/(\w+)/(\w+)/(\w+)\?', client.get("/").text)
    assert frames == [(brand, "en", look) for brand in ("concert", "default", "shop") for look in LOOKS]
    assert set(LOOKS) == {"candidate", "blocked", *STATES}
    one = client.get("/?brand=shop&look=called&language=every+language&scheme=dark").text
    assert len(re.findall("<iframe", one)) == 21
    assert "color-scheme: dark" in one


@pytest.mark.parametrize("look", LOOKS)
def test_each_look_is_a_page_under_the_policy_of_the_edge(client: TestClient, look: str) -> None:
    answer = client.get(f"/page/shop/ar/{look}?message=%3Cb%3Ehello")
    assert answer.status_code == 200
    assert '<html lang="ar" dir="rtl"' in answer.text
    assert "{{" not in answer.text
    assert "&lt;b&gt;hello" in answer.text
    nonce = re.search("'nonce-([^']+)'", answer.headers["Content-Security-Policy"])
    assert nonce
    assert f'nonce="{nonce[1]}"' in answer.text


def test_a_template_is_read_anew_and_its_faults_are_shown(client: TestClient, templates: Path) -> None:
    css = templates / "brands/shop/brand.css"
    css.write_text("h1 { color: red; }")
    assert "h1 { color: red; }" in client.get("/page/shop/en/waiting").text
    css.write_text("h1 { background: url(https://elsewhere.example/<b>); }")
    answer = client.get("/page/shop/en/waiting")
    assert answer.status_code == 500
    assert f"{css}:1:" in answer.text
    assert "refers to something outside of the page" in answer.text


@pytest.mark.parametrize(
    ("asked", "words"),
    [
        ("/?brand=nosuch", "there is no brand 'nosuch': one of concert, default, shop"),
        ("/?language=zz", "there is no language 'zz': one of en, ar, de"),
        ("/?look=zz", "there is no look 'zz': one of candidate, "),
        ("/page/nobody/en/waiting", "there is no brand 'nobody'"), ("/page/shop/zz/waiting", "there is no language 'zz'"),
        ("/page/shop/en/nobody", "there is no look 'nobody'"),
    ],
)  # fmt: skip
def test_what_there_is_not_is_said_with_what_there_is(client: TestClient, asked: str, words: str) -> None:
    answer = client.get(asked)
    assert answer.status_code == 404
    assert words in answer.text


def test_the_pages_of_the_preview_ask_for_nothing_but_the_blocked_one(client: TestClient) -> None:
    assert 'data-status-url=""' in client.get("/page/default/en/waiting").text
    assert 'data-status-url="/status/candidate"' in client.get("/page/default/en/blocked").text
    assert client.get("/status/candidate").json()["state"] == "candidate"


def test_pictures_have_names_of_their_own_and_show_what_there_is() -> None:
    assert len({each.name for each in PICTURES}) == len(PICTURES)
    assert {each.brand for each in PICTURES} == set(brands(TEMPLATES))
    assert {each.state for each in PICTURES} <= set(preview.LOOKS)


@pytest.fixture
def address() -> Iterator[str]:
    server = uvicorn.Server(uvicorn.Config(application(TEMPLATES), host="127.0.0.1", port=0, log_level="warning"))
    thread = threading.Thread(target=server.run)
    thread.start()
    while not server.started:
        time.sleep(0.02)
    try:
        yield f"http://127.0.0.1:{server.servers[0].sockets[0].getsockname()[1]}"
    finally:
        server.should_exit = True
        thread.join(timeout=10)


def test_the_preview_opens_at_its_top_and_without_a_complaint(address: str) -> None:
    with chromium() as browser:
        tab = browser.new_page(viewport={"width": 1280, "height": 900})
        complaints: list[str] = []
        tab.on("console", lambda message: complaints.append(message.text))
        tab.on("response", lambda answer: complaints.append(answer.url) if answer.status >= 400 else None)
        tab.goto(f"{address}/?look=called", wait_until="networkidle")
        assert len(tab.frames) == 4
        assert tab.frames[1].evaluate("typeof byId") == "undefined"
        assert tab.frames[1].locator("#enter").is_visible()
        assert tab.evaluate("[scrollY, document.activeElement.tagName]") == [0, "BODY"]
        assert complaints == []
        tab.goto(f"{address}/page/shop/en/called", wait_until="networkidle")
        assert tab.evaluate("document.activeElement.id") == "enter", "by itself the page takes the focus"
