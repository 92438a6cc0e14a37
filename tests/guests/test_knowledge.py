"""What a guest knows between requests: the last good configuration, keys and pages; a store in trouble is never an empty one."""

from __future__ import annotations

import base64
import json
from typing import Any

import pytest

from edge.core.config import CONFIG_KEY
from edge.core.crawlers import CRAWLERS_KEY
from edge.core.errors import ConfigError
from edge.core.messages import Forward, Request, Respond
from edge.guests.knowledge import Knowledge
from tests.core.support import HTML, JSON, KEYS, queue

OTHER_KEYS = "k2:" + base64.urlsafe_b64encode(b"fedcba9876543210fedcba9876543210").decode() + " " + KEYS
SET = '{"version": 1, "previous": 0, "languages": ["en"]}'
PAGE = "<html><body><p>{{queue_name}}</p></body></html>"


class Store:
    """A KV store, settings and secrets that a test changes. `broken`: keys that cannot be read."""

    def __init__(self, **values: str) -> None:
        self.values = {CONFIG_KEY: config_text()} | values
        self.settings: dict[str, str] = {}
        self.secrets = {"signing-keys": KEYS}
        self.broken: set[str] = set()
        self.reads: list[str] = []
        self.lines: list[dict[str, Any]] = []
        self.knowledge = Knowledge(self._get, self.settings.get, self.secrets.get, self._log)

    def _get(self, key: str) -> str | None:
        self.reads.append(key)
        if key in self.broken:
            raise OSError(f"{key}: the disk is on fire")
        return self.values.get(key)

    def _log(self, line: str) -> None:
        self.lines.append(json.loads(line))

    def ids(self) -> list[str]:
        return [each.id for each in self.knowledge.context().config.queues]


def config_text(*queues: dict[str, Any]) -> str:
    return json.dumps({"queues": list(queues) or [queue()]})


def request(method: str = "GET", accept: str = HTML) -> Request:
    return Request(method, "/x", "https", "h", "c", "", 5, "5a" * 32, "id", {"accept": accept, "cookie": "a=1; stanchion-x=y"})


def test_a_store_is_read_when_its_generation_changes_and_not_before() -> None:
    store = Store()
    store.knowledge.refresh("1")
    context = store.knowledge.context()
    for _ in range(5):
        store.knowledge.refresh("1")
    assert store.reads == [CONFIG_KEY]
    store.knowledge.refresh("2")
    assert store.reads == [CONFIG_KEY] * 2
    assert store.knowledge.context() is context  # the same text: nothing is forgotten
    store.values[CONFIG_KEY] = config_text(queue(id="new"))
    store.knowledge.refresh("3")
    assert store.ids() == ["new"]


def test_without_a_generation_it_is_read_each_time() -> None:
    store = Store()
    store.knowledge.refresh("")
    store.knowledge.refresh("")
    assert store.reads == [CONFIG_KEY] * 2


def test_what_a_node_remembers_survives_a_new_configuration() -> None:
    store = Store()
    store.knowledge.refresh("1")
    before = store.knowledge.context()
    store.values[CONFIG_KEY] = config_text(queue(name="Another name"))
    store.knowledge.refresh("2")
    after = store.knowledge.context()
    assert after is not before
    assert (after.snapshots, after.granted, after.node) == (before.snapshots, before.granted, before.node)


@pytest.mark.parametrize(
    "text", ["", "{", "null", '{"queues": [{"id": "A"}]}', '{"queues": [], "x": 1}', config_text(queue(admit_per_minute=-1))]
)
def test_a_bad_configuration_is_refused_with_its_path_and_the_last_good_one_stays(text: str) -> None:
    store = Store()
    store.knowledge.refresh("1")
    store.values[CONFIG_KEY] = text
    for generation in ("2", "2", "3"):
        store.knowledge.refresh(generation)
        assert store.ids() == ["launch"]
    assert [line["event"] for line in store.lines] == ["configuration not taken"]
    store.values[CONFIG_KEY] = config_text(queue(id="good"))
    store.knowledge.refresh("4")
    assert store.ids() == ["good"]


def test_a_store_that_cannot_be_read_is_an_error_and_never_an_empty_configuration() -> None:
    store = Store()
    store.knowledge.refresh("1")
    store.broken.add(CONFIG_KEY)
    store.knowledge.refresh("2")
    assert store.ids() == ["launch"]
    assert "on fire" in store.lines[0]["problem"]
    store.values[CONFIG_KEY] = config_text(queue(id="new"))
    store.broken.clear()
    store.knowledge.refresh("2")  # nothing has changed, but what could not be read is read now
    assert store.ids() == ["new"]


def test_a_configuration_that_was_taken_away_changes_nothing() -> None:
    store = Store()
    store.knowledge.refresh("1")
    del store.values[CONFIG_KEY]
    store.knowledge.refresh("2")
    assert store.ids() == ["launch"]


def test_without_any_configuration_each_request_hears_why() -> None:
    store = Store()
    del store.values[CONFIG_KEY]
    for _ in range(2):
        with pytest.raises(ConfigError, match="is not in the store"):
            store.knowledge.refresh("1")
    assert len(store.lines) == 1
    store.values[CONFIG_KEY] = config_text()
    store.knowledge.refresh("2")
    assert store.ids() == ["launch"]


def test_a_store_that_cannot_be_read_at_the_start_is_tried_again() -> None:
    store = Store()
    store.broken.add(CONFIG_KEY)
    with pytest.raises(ConfigError, match="on fire"):
        store.knowledge.refresh("1")
    store.broken.clear()
    store.knowledge.refresh("1")
    assert store.ids() == ["launch"]


@pytest.mark.parametrize("keys", ["", "k1:short", "nonsense"])
def test_without_good_keys_nothing_starts(keys: str) -> None:
    store = Store()
    store.secrets["signing-keys"] = keys
    with pytest.raises(ConfigError, match="key") as caught:
        store.knowledge.refresh("1")
    assert "short" not in str(caught.value).replace("shorter", "")


def test_keys_rotate_while_it_runs_and_broken_ones_are_refused() -> None:
    store = Store()
    store.knowledge.refresh("1")
    assert store.knowledge.context().ring.newest == "k1"
    store.secrets["signing-keys"] = OTHER_KEYS
    store.knowledge.refresh("2")
    assert store.knowledge.context().ring.newest == "k2"
    store.secrets["signing-keys"] = "broken"
    store.knowledge.refresh("3")
    store.knowledge.refresh("4")
    assert store.knowledge.context().ring.newest == "k2"
    assert [line["event"] for line in store.lines] == ["signing keys not taken"]


def test_the_flavour_of_redis_is_a_setting() -> None:
    store = Store()
    store.settings["STANCHION_REDIS_FLAVOUR"] = "upstash"
    store.knowledge.refresh("1")
    assert store.knowledge.context().flavour == "upstash"
    other = Store()
    other.knowledge.refresh("1")
    assert other.knowledge.context().flavour == "redis"


# --- pages --------------------------------------------------------------------------------------------------------------

def test_pages_are_read_again_when_the_store_changes() -> None:
    store = Store(**{"pages/default/current.json": SET, "pages/default/1/en/waiting.html": PAGE})
    store.knowledge.refresh("1")
    assert store.knowledge.context().offered("default") == ("en",)
    page = store.knowledge.page("default", "en", "waiting")
    assert store.knowledge.page("default", "en", "waiting") is page
    store.knowledge.refresh("2")
    assert store.knowledge.page("default", "en", "waiting") is not page


# --- no configuration ---------------------------------------------------------------------------------------------------


def test_hold_is_the_default_without_a_configuration() -> None:
    answer = Store().knowledge.on_config_error(request(), "gone")
    assert isinstance(answer, Respond)
    assert answer.status == 503
    assert ("Retry-After", "10") in answer.headers
    assert ("Cache-Control", "private, no-store") in answer.headers
    assert "right back" in answer.text
    assert "gone" not in answer.text
    assert "gone" in answer.why
    script = Store().knowledge.on_config_error(request(accept=JSON), "gone")
    assert isinstance(script, Respond)
    assert json.loads(script.text)["state"] == "unavailable"


def test_pass_lets_everybody_through_without_our_cookies() -> None:
    store = Store()
    store.settings["STANCHION_ON_CONFIG_ERROR"] = "pass"
    answer = store.knowledge.on_config_error(request(), "gone")
    assert isinstance(answer, Forward)
    assert (answer.cookie, answer.origin_pass) == ("a=1", "")


def test_crawlers_are_read_when_they_are_needed_and_the_last_good_list_stays() -> None:
    store = Store()
    store.knowledge.refresh("1")
    context = store.knowledge.context()
    assert context.crawlers().names == ()
    assert store.reads == [CONFIG_KEY, CRAWLERS_KEY]
    assert context.crawlers().names == ()
    assert len(store.reads) == 2, "once for each generation of the store"
    store.values[CRAWLERS_KEY] = '{"findbot": ["192.0.2.0/24"]}'
    store.knowledge.refresh("2")
    assert context.crawlers().name_of("192.0.2.1") == "findbot"
    store.values[CRAWLERS_KEY] = '{"findbot": ["0.0.0.0/0"]}'
    store.knowledge.refresh("3")
    assert context.crawlers().name_of("192.0.2.1") == "findbot"
    assert [line["event"] for line in store.lines] == ["crawlers not taken"]
    store.broken.add(CRAWLERS_KEY)
    store.knowledge.refresh("4")
    for _ in range(2):
        assert context.crawlers().name_of("192.0.2.1") == "findbot"
    assert [line["event"] for line in store.lines[1:]] == ["crawlers not read"] * 2, "looked for again each time"
    store.broken.clear()
    del store.values[CRAWLERS_KEY]
    assert context.crawlers().name_of("192.0.2.1") == ""
