"""The minutes of every queue that runs, kept in the database."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator, Sequence
from pathlib import Path

import pytest

from admin.configuration import ConfigurationSource
from admin.history import GAP_S
from admin.operate.history import HistoryDesk
from admin.operate.sampler import MINUTE_S, Sampler, due
from admin.operations import Operations
from admin.queue_view import QueueView
from admin.state import samples
from admin.state.db import Database, StateUnavailable
from admin.state.migrate import migrate
from admin.state.samples import KEPT_MINUTES
from admin.store import Limits
from admin.watch import Watch
from edge.core.model import Queue
from tests.admin.world import config_text, queue_json, queues_of

GROUP = {"id": "tour", "name": "Tour", "queues": ["de", "at"], "admit_per_minute": 60}
START_S = 1_800_000_000.0


class Looks(Operations):
    def __init__(self) -> None:
        self.asked: list[str] = []
        self.waiting = 5

    async def look(self, queues: Sequence[Queue]) -> list[QueueView]:
        self.asked += [queue.id for queue in queues]
        limits = Limits(60, None, None, None, False, False)
        return [QueueView(queue, "open", "e", 9, 4, self.waiting, 1, 2, 3, limits, 1) for queue in queues]


class Kv:
    def __init__(self, text: str) -> None:
        self.text = text

    def get(self, key: str) -> str | None:
        return self.text

    def put(self, key: str, text: str) -> None:
        self.text = text


class Scene:
    """Time stands still until a test moves it."""

    def __init__(self, folder: Path, text: str) -> None:
        self.now_s = START_S
        self.db = Database(f"sqlite:///{folder}/admin.db")
        migrate(self.db)
        self.looks = Looks()
        source = ConfigurationSource(Kv(text), lambda: self.now_s)
        self.watch = Watch(source, self.looks, lambda: self.now_s)
        self.sampler = Sampler(source, self.watch, self.db, lambda: self.now_s)
        self.history = HistoryDesk(self.watch, self.db, lambda: self.now_s)

    async def seconds(self, count: int, every: int = 1) -> None:
        for _ in range(0, count, every):
            self.now_s += every
            await self.sampler.tick()

    def kept(self, queue: str) -> list[int]:
        return [minute for minute, _figures in self.db.run_now(lambda session: samples.of(session, queue, 0))]


@pytest.fixture
def many(tmp_path: Path) -> Iterator[Scene]:
    scene = Scene(tmp_path, config_text(*(queue_json(f"q{number:03d}") for number in range(150))))
    yield scene
    scene.db.close()


def test_every_queue_is_looked_at_once_a_minute_and_a_sixtieth_of_them_a_second(many: Scene) -> None:
    asyncio.run(many.seconds(1))
    assert len(many.looks.asked) <= 3
    asyncio.run(many.seconds(60))
    assert len(set(many.looks.asked)) == 150
    assert len(many.looks.asked) <= 153
    assert [len(many.kept(queue)) for queue in ("q000", "q077", "q149")] == [1, 1, 1]


def test_a_late_tick_makes_up_for_the_seconds_that_it_missed(many: Scene) -> None:
    asyncio.run(many.seconds(60, every=7))
    assert len(set(many.looks.asked)) >= 140
    asyncio.run(many.seconds(7, every=7))
    assert len(set(many.looks.asked)) == 150


def test_one_queue_of_a_group_is_asked_for_all_of_it(tmp_path: Path) -> None:
    text = config_text(
        *({"id": name, "name": name, "routes": [{"path": f"/{name}/*"}]} for name in ("de", "at")),
        groups=[GROUP],
    )  # fmt: skip
    scene = Scene(tmp_path, text)
    assert sum(len(due(queues_of(text), second)) for second in range(MINUTE_S)) == 1
    asyncio.run(scene.seconds(61))
    assert scene.kept("de") == scene.kept("at") == [int(START_S // 60)]
    scene.db.close()


def test_a_day_is_drawn_from_the_minutes_and_what_memory_has_since(many: Scene) -> None:
    async def runs() -> None:
        await many.seconds(125)
        many.looks.waiting = 8
        many.now_s += GAP_S
        await many.watch.look(queues_of(config_text(queue_json("q000"))))
        day = await many.history.of("q000", "day")
        assert [sample.waiting for sample in day.samples] == [5, 5, 5, 8]
        assert [sample.at_s for sample in day.samples[:2]] == [START_S + 59, START_S + 119]
        assert day.problem == ""

    asyncio.run(runs())


def test_two_admin_apps_keep_a_minute_once_and_old_ones_go(many: Scene) -> None:
    first = {7: {"a": {"waiting": 1}, "b": {"waiting": 2}}}
    many.db.run_now(lambda session: samples.add(session, first))
    many.db.run_now(lambda session: samples.add(session, {7: {"a": {"waiting": 9}}, 8: {"a": {"waiting": 3}}}))
    kept = many.db.run_now(lambda session: samples.of(session, "a", 0))
    assert kept == [(7, {"waiting": 1}), (8, {"waiting": 3})]
    many.db.run_now(lambda session: samples.forget(session, 8 + KEPT_MINUTES))
    assert (many.kept("a"), many.kept("b")) == ([8], [])


def test_without_its_database_the_minutes_wait_and_the_chart_shows_what_memory_has(many: Scene) -> None:
    async def away(_work: object) -> None:
        raise StateUnavailable("the disk is full")

    async def runs() -> None:
        run, read = many.db.run, many.db.read
        many.db.run = many.db.read = away  # type: ignore[assignment, method-assign]
        await many.seconds(130)
        day = await many.history.of("q000", "day")
        assert day.problem == "the disk is full"
        assert day.samples
        many.db.run, many.db.read = run, read  # type: ignore[method-assign]
        await many.seconds(1)

    asyncio.run(runs())
    assert len(many.kept("q000")) == 2
