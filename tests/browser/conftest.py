from __future__ import annotations

import os
import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Browser, sync_playwright

from tests.browser.shop import REST_TOKEN
from tests.e2e.stack import ROOT, Stack, queue, running
from tests.host.rest.servers import RedisServer, free_port
from tests.needs import find, needs

FLAGS = ["--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run", "--disable-background-networking",
         "--disable-component-update", "--disable-sync"]  # fmt: skip

APP = f"http://app.localhost:{free_port()}"  # a page elsewhere; browsers find every *.localhost on this machine

QUEUES = [
    queue("launch", name="Launch day", max_active=1),
    queue("concert", name="The concert", manual=True, page="concert"),
    queue("drop", name="The drop", manual=True, allowed_origins=[APP]),
    # For the pictures: what a visitor of a large sale sees.
    queue("season", name="Spring season tickets", routes=[{"path": "/launch/season/*"}], admit_per_minute=120, burst=1, poll_s=5),
    queue(
        "tour", name="The concert", routes=[{"path": "/concert/tour/*"}], page="concert", admit_per_minute=60, burst=1, poll_s=5
    ),
    queue("spring", name="Spring season tickets", routes=[{"path": "/launch/item/season"}], manual=True),
    # What becomes of a turn that nobody takes.
    *(queue(f"late-{late}", name="The rush", manual=True, late_claim=late, claim_within_s=10)
      for late in ("refused", "head", "back")),
]


@pytest.fixture(scope="module")
def browser() -> Iterator[Browser]:
    """One for the package: Playwright allows one at a time, and other tests start their own."""
    program = needs("chromium")
    with sync_playwright() as playwright:
        started = playwright.chromium.launch(executable_path=program, args=FLAGS)
        yield started
        started.close()


@pytest.fixture(scope="module")
def redis_url(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """A real Redis; the embedded one on a machine that has none, unless it is required."""
    if not find("redis") and "redis" not in os.environ.get("STANCHION_TEST_REQUIRE", "").split(","):
        yield ""
        return
    server = RedisServer(needs("redis"), tmp_path_factory.mktemp("redis"), free_port())
    server.start()
    yield server.url
    server.kill()


@pytest.fixture(scope="module")
def stack(tmp_path_factory: pytest.TempPathFactory, redis_url: str, browser: Browser) -> Iterator[Stack]:
    """The product before its own demo shop. Asks for the browser first: without one nothing has to start."""
    folder: Path = tmp_path_factory.mktemp("stack")
    # The store is seeded only while it is empty, and these queues are in it before the start.
    shutil.copytree(ROOT / "kv-seed" / "pages", folder / "kv" / "pages")
    with running(folder, QUEUES, redis_url, STANCHION_ORIGIN_URL="", UPSTASH_REDIS_REST_TOKEN=REST_TOKEN) as started:
        yield started
