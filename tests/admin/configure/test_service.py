"""Publishing from the admin, before a real Redis and a folder: versions, new states, two editors, and nothing for nothing."""

from __future__ import annotations

import asyncio
import json
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from admin.configuration import ConfigurationSource
from admin.configure.document import with_queue
from admin.configure.service import Configurator, Faulty, Stale, etag_of
from admin.kv import FolderKv
from admin.store import Store, StoreUnavailable
from edge.core.commands import take_snapshot
from edge.core.config import CONFIG_KEY, load_config
from edge.core.sealed import is_sealed
from edge.core.snapshot import Snapshot
from tests.admin.configure.test_document import GROUP, entry, member, value
from tests.admin.world import REST_TOKEN, Bridge, RedisServer, Visitors


@dataclass
class Office:
    """A configurator with its folder and its Redis."""

    url: str
    kv: FolderKv
    visitors: Visitors

    def do(self, work: Any) -> Any:
        """Runs `work(configurator)` with connections of its own."""

        async def run() -> Any:
            store = Store(self.url, REST_TOKEN, "redis")
            try:
                return await work(Configurator(self.kv, store, ConfigurationSource(self.kv, lambda: 0.0)))
            finally:
                await store.close()

        return asyncio.run(run())

    def publish(self, wanted: dict[str, Any], etag: str | None = None) -> Any:
        return self.do(lambda each: each.publish(wanted, self.etag if etag is None else etag))

    @property
    def etag(self) -> str:
        return etag_of(self.kv.get(CONFIG_KEY))

    @property
    def text(self) -> str:
        text = self.kv.get(CONFIG_KEY)
        assert text is not None
        return text

    def state(self, scope: str) -> Snapshot:
        found = self.visitors.run(take_snapshot(scope, "0" * 32)).snapshot
        assert found is not None
        return found


@pytest.fixture
def office(redis_server: RedisServer, bridge: Bridge, tmp_path: Path) -> Office:
    redis_server.client().flushall()
    (tmp_path / "kv").mkdir()
    return Office(bridge.url, FolderKv(tmp_path / "kv"), Visitors(redis_server.client()))


def test_a_first_publish_begins_the_queue_and_a_second_is_in_force_at_once(office: Office) -> None:
    first = office.publish(value(entry("a")))
    assert first.is_new
    assert is_sealed(office.text)
    assert (office.state("a").status, office.state("a").admit_per_minute) == ("open", 60)
    second = office.publish(value(entry("a", admit_per_minute=90)))
    assert second.scopes == ("a",)
    assert [change.words for change in second.changes] == ["Queue a, admit_per_minute: 60 → 90."]
    assert (office.state("a").admit_per_minute, office.state("a").config_version) == (90, 2)


def test_saving_what_did_not_change_changes_nothing(office: Office) -> None:
    office.publish(value(entry("a"), entry("b")))
    text = office.text
    again = office.do(lambda each: each.current())
    result = office.publish(again.value)
    assert not result.is_new
    assert (result.changes, result.scopes, office.text) == ((), (), text)
    # Neither does a file that a person wrote, whatever its form.
    by_hand = json.dumps(value(entry("a"), entry("b")))
    office.kv.put(CONFIG_KEY, by_hand)
    office.publish(json.loads(by_hand))
    assert office.text == by_hand


def test_only_what_changed_gets_a_version(office: Office) -> None:
    office.publish(value(entry("a"), entry("b")))
    office.publish(value(entry("a"), entry("b", poll_s=7)))
    published = load_config(office.text)
    assert [each.config_version for each in published.queues] == [1, 2]
    # What only writes a default out is kept as written, and raises nothing.
    result = office.publish(value(entry("a", poll_s=5), entry("b", poll_s=7)))
    assert (result.is_new, result.scopes) == (True, ())


def test_the_later_of_two_editors_is_told(office: Office) -> None:
    office.publish(value(entry("a")))
    etag = office.etag
    office.publish(value(entry("a", poll_s=7)))
    with pytest.raises(Stale) as caught:
        office.publish(value(entry("a", idle_s=99)), etag)
    assert caught.value.current.value["queues"][0]["poll_s"] == 7
    assert load_config(office.text).queues[0].idle_s == 300


def test_somebody_else_may_publish_while_redis_is_asked(office: Office, monkeypatch: pytest.MonkeyPatch) -> None:
    office.publish(value(entry("a")))
    plain_read = Store.read

    async def slow_read(self: Store, scopes: Any, randoms: Any) -> Any:
        office.kv.put(CONFIG_KEY, json.dumps(value(entry("a", poll_s=8))))
        return await plain_read(self, scopes, randoms)

    monkeypatch.setattr(Store, "read", slow_read)
    with pytest.raises(Stale):
        office.publish(value(entry("a", poll_s=7)))
    assert load_config(office.text).queues[0].poll_s == 8


def test_of_two_at_once_one_wins(office: Office) -> None:
    office.publish(value(entry("a")))
    etag = office.etag

    async def both(each: Configurator) -> list[Any]:
        changes = [value(entry("a", poll_s=number)) for number in (7, 8)]
        return await asyncio.gather(*(each.publish(change, etag) for change in changes), return_exceptions=True)

    kinds = sorted(type(result).__name__ for result in office.do(both))
    assert kinds == ["Published", "Stale"]


def test_faults_change_nothing(office: Office) -> None:
    office.publish(value(entry("a")))
    text = office.text
    with pytest.raises(Faulty) as caught:
        office.publish(value(entry("a", admit_per_minute=-1), entry("b", burst=-5)))
    assert [fault.path for fault in caught.value.faults] == ["queues[0].admit_per_minute", "queues[1].burst"]
    with pytest.raises(Faulty, match="is taken by another queue"):
        office.publish(value(entry("a"), entry("a", routes=[{"path": "/x"}])))
    assert office.text == text


def test_without_redis_nothing_is_put_in_force(office: Office) -> None:
    office.publish(value(entry("a")))
    text, office.url = office.text, "http://127.0.0.1:9"
    with pytest.raises(StoreUnavailable, match="cannot be reached"):
        office.publish(value(entry("a", poll_s=7)))
    assert office.text == text


def test_a_group_is_begun_numbered_and_offered_as_one(office: Office) -> None:
    grouped = value(member("a"), member("b"), groups=[GROUP])
    office.publish(grouped)
    assert office.state("world").max_active == 40
    office.publish({**grouped, "groups": [{**GROUP, "max_active": 50}]})
    assert (office.state("world").max_active, office.state("world").config_version) == (50, 2)


def test_a_queue_that_comes_back_gets_a_number_above_its_state(office: Office) -> None:
    office.publish(value(entry("a", config_version=5), entry("b")))
    office.publish(value(entry("b")))
    office.publish(value(entry("b"), entry("a", admit_per_minute=7)))
    assert (office.state("a").admit_per_minute, office.state("a").config_version) == (7, 6)


def test_a_broken_configuration_can_be_replaced(office: Office) -> None:
    office.kv.put(CONFIG_KEY, "{")
    current = office.do(lambda each: each.current())
    assert current.problem
    office.publish(value(entry("a")))
    assert load_config(office.text).queue("a")


def test_a_state_that_is_lost_is_left_to_its_recovery(office: Office, redis_server: RedisServer) -> None:
    office.publish(value(entry("a")))
    redis_server.client().flushall()
    office.publish(value(entry("a", poll_s=7)))
    assert office.visitors.run(take_snapshot("a", "0" * 32)).snapshot is None


def test_a_folder_that_cannot_be_written_is_told(office: Office) -> None:
    missing = FolderKv(Path("/nowhere/at/all"))
    office.kv = missing
    with pytest.raises(StoreUnavailable, match="cannot be read"):
        office.do(lambda each: each.current())


def test_one_queue_put_into_a_large_configuration_leaves_the_others(office: Office) -> None:
    office.publish(value(*(entry(f"q{number}") for number in range(60))))
    before = office.do(lambda each: each.current())
    result = office.publish(with_queue(before.value, entry("q7", poll_s=9), "q7"))
    assert result.scopes == ("q7",)
    assert [each.config_version for each in load_config(office.text).queues if each.config_version > 1] == [2]
