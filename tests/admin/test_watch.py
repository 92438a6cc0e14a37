"""The watch: one question to Redis for all consoles, and the last look kept when it is away."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence

import pytest

from admin.configuration import ConfigurationSource
from admin.history import SPAN_S
from admin.kv import KvError
from admin.operations import Operations
from admin.queue_view import QueueView
from admin.store import Limits, StoreUnavailable
from admin.watch import IDLE_QUEUES_AT_MOST, LIST_READS_PER_S, Watch
from edge.core.model import Queue
from tests.admin.world import config_text, queue_json, queues_of


class FakeOperations(Operations):
    """Answers from a number; fails when told."""

    def __init__(self) -> None:
        self.asked: list[list[str]] = []
        self.away = False
        self.waiting = 1

    async def look(self, queues: Sequence[Queue]) -> list[QueueView]:
        self.asked.append([queue.id for queue in queues])
        await asyncio.sleep(0)
        if self.away:
            raise StoreUnavailable("Redis is away.")
        limits = Limits(1, None, None, None, False, False)
        return [QueueView(queue, "open", "e", 1, 0, self.waiting, 0, 0, 0, limits, 1) for queue in queues]


class FakeKv:
    def __init__(self, text: str | None) -> None:
        self.text = text
        self.reads = 0

    def get(self, key: str) -> str | None:
        assert key == "config.json"
        self.reads += 1
        if self.text == "broken":
            raise KvError("the disk is gone")
        return self.text

    def put(self, key: str, text: str) -> None:
        self.text = text


class Scene:
    def __init__(self) -> None:
        self.now_s = 10_000.0
        self.kv = FakeKv(config_text(queue_json("a"), queue_json("b")))
        self.queues = queues_of(self.kv.text or "")
        self.operations = FakeOperations()
        self.source = ConfigurationSource(self.kv, lambda: self.now_s)
        self.watch = Watch(self.source, self.operations, lambda: self.now_s)


@pytest.fixture
def scene() -> Scene:
    return Scene()


def test_many_consoles_ask_once(scene: Scene) -> None:
    async def consoles() -> None:
        await asyncio.gather(*(scene.watch.look(scene.queues) for _ in range(40)))

    asyncio.run(consoles())
    assert scene.operations.asked == [["a", "b"]]


def test_only_what_is_old_is_asked_again(scene: Scene) -> None:
    async def looks() -> None:
        await scene.watch.look(scene.queues[:1])
        await scene.watch.look(scene.queues)
        scene.now_s += 2
        await scene.watch.look(scene.queues)

    asyncio.run(looks())
    assert scene.operations.asked == [["a"], ["b"], ["a", "b"]]


def test_a_long_list_costs_no_more_a_second_than_a_short_one(scene: Scene) -> None:
    queues = queues_of(config_text(*(queue_json(f"q{number:02d}") for number in range(50))))

    async def looks() -> None:
        for _ in range(60):
            picture = await scene.watch.look(queues, queues[7])
            assert not picture.is_stale
            scene.now_s += 1

    asyncio.run(looks())
    reads = [queue_id for asked in scene.operations.asked for queue_id in asked]
    assert reads.count("q07") == 60, "the queue that is being worked on"
    assert len(reads) <= 60 + 60 * LIST_READS_PER_S


def test_the_chosen_queue_says_how_old_the_page_is(scene: Scene) -> None:
    async def looks() -> None:
        await scene.watch.look(scene.queues)
        scene.operations.away = True
        scene.now_s += 2
        assert not (await scene.watch.look(scene.queues, scene.queues[0])).is_stale
        scene.now_s += 2
        picture = await scene.watch.look(scene.queues, scene.queues[0])
        assert (picture.is_stale, picture.age_s) == (True, 4)

    asyncio.run(looks())


def test_the_background_samples_few_and_first_those_that_were_shown(scene: Scene, monkeypatch: pytest.MonkeyPatch) -> None:
    names = [f"q{number:03d}" for number in range(200)]
    scene.kv.text = config_text(*(queue_json(name) for name in names))
    queues = queues_of(scene.kv.text)

    async def ends(seconds: float) -> None:
        raise asyncio.CancelledError

    async def one_round() -> None:
        scene.now_s += 100
        await scene.watch.look(queues[150:152])
        scene.operations.asked.clear()
        scene.now_s += 100
        monkeypatch.setattr(FakeOperations, "look", _note)
        monkeypatch.setattr("admin.watch.asyncio.sleep", ends)
        await scene.watch.keep_history()

    with pytest.raises(asyncio.CancelledError):
        asyncio.run(one_round())
    asked = scene.operations.asked[0]
    assert len(asked) == IDLE_QUEUES_AT_MOST
    assert asked[:4] == ["q151", "q150", "q000", "q001"]


async def _note(self: FakeOperations, queues: Sequence[Queue]) -> list[QueueView]:
    self.asked.append([queue.id for queue in queues])
    return []


def test_the_last_look_stays_with_its_age(scene: Scene) -> None:
    async def looks() -> None:
        await scene.watch.look(scene.queues)
        scene.operations.away = True
        scene.now_s += 12
        pictures = await asyncio.gather(*(scene.watch.look(scene.queues) for _ in range(10)))
        for picture in pictures:
            assert picture.problem == "Redis is away."
            assert picture.age_s == 12
            assert picture.looks[0].view is not None
        assert len(scene.operations.asked) == 2, "one that just failed was asked again by those who waited"
        scene.operations.away = False
        scene.now_s += 1
        picture = await scene.watch.look(scene.queues)
        assert (picture.problem, picture.age_s) == ("", 0)

    asyncio.run(looks())


def test_what_was_never_seen_has_no_age(scene: Scene) -> None:
    scene.operations.away = True
    picture = asyncio.run(scene.watch.look(scene.queues))
    assert picture.age_s is None
    assert picture.looks[0].view is None


def test_a_clock_that_was_set_back_does_not_freeze_the_numbers(scene: Scene) -> None:
    async def looks() -> None:
        await scene.watch.look(scene.queues)
        scene.now_s -= 3600
        scene.operations.waiting = 99
        picture = await scene.watch.look(scene.queues)
        assert picture.looks[0].view is not None
        assert picture.looks[0].view.waiting == 99

    asyncio.run(looks())


def test_a_published_change_is_looked_at_again_at_once(scene: Scene) -> None:
    async def looks() -> None:
        await scene.watch.look(scene.queues)
        changed = queues_of(config_text(queue_json("a", config_version=2), queue_json("b")))
        await scene.watch.look(changed)

    asyncio.run(looks())
    assert scene.operations.asked == [["a", "b"], ["a"]]


def test_the_history_goes_on_by_itself_and_survives_an_absence(scene: Scene, monkeypatch: pytest.MonkeyPatch) -> None:
    rounds = 0

    async def no_sleep(seconds: float) -> None:
        nonlocal rounds
        rounds += 1
        scene.now_s += seconds
        scene.operations.away = 5 < rounds < 15
        if rounds == 40:
            raise asyncio.CancelledError

    monkeypatch.setattr("admin.watch.asyncio.sleep", no_sleep)
    monkeypatch.setattr(FakeOperations, "look", _look_at_once)
    with pytest.raises(asyncio.CancelledError):
        asyncio.run(scene.watch.keep_history())
    kept = scene.watch.history.of("a", scene.now_s)
    assert len(kept) == 40 - 9
    assert scene.now_s - kept[0].at_s <= SPAN_S


async def _look_at_once(self: FakeOperations, queues: Sequence[Queue]) -> list[QueueView]:
    if self.away:
        raise StoreUnavailable("Redis is away.")
    limits = Limits(1, None, None, None, False, False)
    return [QueueView(queue, "open", "e", 1, 0, 1, 0, 0, 0, limits, 1) for queue in queues]


def test_the_configuration_is_read_once_a_second(scene: Scene) -> None:
    async def reads() -> None:
        for _ in range(5):
            await scene.source.published()
        scene.now_s += 1
        await scene.source.published()

    asyncio.run(reads())
    assert scene.kv.reads == 2


def test_trouble_with_the_configuration_keeps_the_last_good_one(scene: Scene) -> None:
    async def read(text: str | None) -> tuple[list[str], str]:
        scene.kv.text = text
        scene.now_s += 2
        published = await scene.source.published()
        return [queue.id for queue in published.config.queues], published.problem

    good = scene.kv.text
    assert asyncio.run(read(good)) == (["a", "b"], "")
    for text, says in (
        (None, "config.json is not"),
        ("{", "is not JSON"),
        ("broken", "the disk is gone"),
        ('{"queues": 5}', "queues"),
    ):
        ids, problem = asyncio.run(read(text))
        assert ids == ["a", "b"]
        assert says in problem
    assert asyncio.run(read(good)) == (["a", "b"], "")
