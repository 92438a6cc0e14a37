"""What a decision of the wasi:http component costs in a fresh instance: `wasmtime serve` gives each request so much fuel.

Nothing is shared between instances there, so every request fetches its snapshot as well: that is in these sums.
"""

from __future__ import annotations

import shutil
from collections.abc import Iterator

import httpx
import pytest

from edge.core import scripts
from edge.core.sealed import seal
from tests.conformance.host import ROOT, Site
from tests.conformance.hosts import wasmtime_serve
from tests.conformance.world import World, place, running
from tests.e2e.stack import enter, queue
from tests.guests.aging import older
from tests.needs import needs

# Design: any decision in a fresh sandbox, here with the snapshot that is fetched on the way.
YARDSTICK = 4_000_000
FUEL = YARDSTICK
QUEUES = [queue("calm", admit_per_minute=100_000, burst=10_000), queue("hand", manual=True)]


class Frugal(wasmtime_serve.WasmtimeHost):
    """An instance serves one request, with this much fuel; what needs more is a trap, and no answer."""

    def run(self, command: list[str], site: Site, environ: dict[str, str], port: int) -> None:
        at = command.index("--addr")
        reuse = command.index("--max-instance-reuse-count")
        command[at:at] = ["-W", f"fuel={FUEL}"]
        command[reuse + 1] = "1"
        (site.kv / "config.json").write_text(seal({"queues": QUEUES}), encoding="utf-8")
        shutil.copytree(ROOT / "kv-seed" / "pages" / "default", site.kv / "pages" / "default", dirs_exist_ok=True)
        super().run(command, site, environ, port)


@pytest.fixture(scope="module")
def world(tmp_path_factory: pytest.TempPathFactory) -> Iterator[World]:
    needs("wasmtime")
    with running(Frugal("wasmtime", wasmtime_serve.LIMITS), tmp_path_factory.mktemp("frugal"), QUEUES) as started:
        for script in scripts.ALL:  # a server that has forgotten them is sent their text once, which costs more
            started.command(["SCRIPT", "LOAD", script.text["redis"]])
        yield started


def aged(world: World, visitor: httpx.Client, seconds: int) -> None:
    """As if so much time had passed for this browser."""
    for cookie in visitor.cookies.jar:
        cookie.value = older(f"{cookie.name}={cookie.value}", world.site.signing_keys, seconds).partition("=")[2]


def test_each_decision_stays_within_its_budget(world: World) -> None:
    visitor = world.visitor()
    enter(visitor, "/calm/")  # a first arrival, let in at once
    assert visitor.get("/calm/").status_code == 200, "inside"
    aged(world, visitor, 100)
    renewed = visitor.get("/calm/")
    assert (renewed.status_code, "stanchion-calm" in renewed.headers["set-cookie"]) == (200, True), "a renewal"
    waiting: httpx.Client = place(world, "hand")
    page = waiting.get("/hand/")
    assert (page.status_code, "data-ahead" in page.text) == (503, True), "the published page, filled"
    told = waiting.get("/.stanchion/hand/status")
    assert told.json()["state"] == "waiting"
    for path, status in (("/hand/", 503), ("/.stanchion/hand/status", 200)):
        aged(world, waiting, 25)
        alive = waiting.get(path)
        assert (alive.status_code, "stanchion-hand" in alive.headers["set-cookie"]) == (status, True), "a sign of life"
    world.admit("hand", 1)
    taken = waiting.get("/hand/")
    assert (taken.status_code, "stanchion-hand" in taken.headers["set-cookie"]) == (200, True), "a turn, taken"
