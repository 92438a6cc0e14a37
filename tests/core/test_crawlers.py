"""Search crawlers: known by their networks alone, found quickly, and treated as the queue says."""

from __future__ import annotations

import json
from contextlib import suppress
from ipaddress import IPv4Address, IPv6Address, ip_address, ip_network
from typing import Any

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from edge.core.crawlers import (
    CRAWLERS_KEY,
    NETWORKS_AT_MOST,
    TEXT_MAX_BYTES,
    UNSEALED_AT_MOST,
    Crawlers,
    _checksum,
    check_crawlers,
    load_crawlers,
    seal,
)
from edge.core.errors import ConfigError
from tests.core.support import HTML, JSON, MANUAL, Browser, World, away, full, is_held, queue

LISTS = {"findbot": ["192.0.2.0/25", "2001:db8:1::/48", "198.51.100.7"], "other-bot": ["203.0.112.0/24", "192.0.2.64/27"]}
FOUND = check_crawlers(LISTS)


@pytest.mark.parametrize(
    ("address", "name"),
    [
        ("192.0.2.0", "findbot"),
        ("192.0.2.127", "findbot"),
        ("192.0.2.128", ""),
        ("192.0.1.255", ""),
        ("192.0.2.70", "findbot"),  # the wider of two networks
        ("198.51.100.7", "findbot"),
        ("198.51.100.8", ""),
        ("203.0.112.255", "other-bot"),
        ("255.255.255.255", ""),
        ("0.0.0.0", ""),
        ("2001:db8:1:ffff::9", "findbot"),
        ("2001:DB8:1::", "findbot"),
        ("2001:db8:2::", ""),
        ("2001:db8:1::1%eth0", "findbot"),
        ("::ffff:192.0.2.1", "findbot"),
        ("::192.0.2.1", ""),
        ("", ""),
        ("findbot", ""),
        ("192.0.2.1:80", ""),
    ],
)
def test_an_address_is_found_in_its_network(address: str, name: str) -> None:
    assert FOUND.name_of(address) == name
    assert load_crawlers(seal(FOUND)).name_of(address) == name
    assert Crawlers().name_of(address) == ""


_V4 = st.builds(lambda bits, number: f"{IPv4Address(number >> (32 - bits) << (32 - bits))}/{bits}", st.integers(8, 32),
                st.integers(0, 2**32 - 1))  # fmt: skip
_V6 = st.builds(lambda bits, number: f"{IPv6Address(number >> (128 - bits) << (128 - bits))}/{bits}", st.integers(19, 128),
                st.integers(0, 2**128 - 1))  # fmt: skip


@given(st.dictionaries(st.sampled_from(["a", "b", "c"]), st.lists(_V4 | _V6, min_size=1, max_size=12, unique=True)), st.data())
def test_whatever_the_list_the_answer_is_that_of_each_network(lists: dict[str, list[str]], data: st.DataObject) -> None:
    found = check_crawlers(lists)
    assert load_crawlers(seal(found)) == found
    networks = [(ip_network(text), name) for name, members in lists.items() for text in members]
    edges = [address for network, _ in networks for address in (network[0], network[-1])]
    near = [type(a)(int(a) + step) for a in edges for step in (-1, 0, 1) if 0 <= int(a) + step < 2 ** a.max_prefixlen]
    for address in (*near, data.draw(st.ip_addresses())):
        if getattr(address, "ipv4_mapped", None) is not None:
            continue
        holders = {name for network, name in networks if address in network}
        name = found.name_of(str(address))
        assert name in holders if holders else name == ""


@pytest.mark.parametrize(
    ("value", "at"),
    [
        ([], ""),
        ({"Findbot": ["192.0.2.0/24"]}, "Findbot"),
        ({"a": []}, "a"),
        ({"a": "192.0.2.0/24"}, "a"),
        ({"a": ["192.0.2.1/24"]}, "a[0]"),  # bits behind the prefix
        ({"a": ["192.0.2.0/24", "192.0.2.0/33"]}, "a[1]"),
        ({"a": ["example.org"]}, "a[0]"),
        ({"a": ["0.0.0.0/0"]}, "a[0]"),
        ({"a": ["10.0.0.0/7"]}, "a[0]"),
        ({"a": ["2000::/3"]}, "a[0]"),
        ({"a": ["192.0.2.0/24"] * 2}, "a[1]"),
        ({f"a{n}": ["192.0.2.0/24"] for n in range(65)}, ""),
        ({f"a{n}": [f"10.{n}.{m}.0/24" for m in range(200)] for n in range(NETWORKS_AT_MOST // 200 + 1)}, ""),
    ],
)
def test_a_wrong_list_is_refused_with_its_place(value: Any, at: str) -> None:
    with pytest.raises(ConfigError) as caught:
        check_crawlers(value)
    assert caught.value.path == (f"crawlers.{at}" if at else "crawlers")


_BODY = '"names": [],\n"ranges": ""}\n'
OTHER_VERSION = f'{{"checked": "{_checksum(_BODY)}",\n{_BODY}'


@pytest.mark.parametrize("text", ["", "{", "[" * 100_000, '{"a": ["192.0.2.0/24"], "a": []}', "x" * (TEXT_MAX_BYTES + 1),
                                  seal(FOUND).replace("c000", "c001", 1), '{"checked": "00000000",\n"names": []}',
                                  OTHER_VERSION])  # fmt: skip
def test_a_broken_text_is_refused_in_words(text: str) -> None:
    with pytest.raises(ConfigError):
        load_crawlers(text)


def test_a_long_list_has_to_be_sealed_and_a_short_one_does_not() -> None:
    lists = {"a": [f"10.0.{n}.0/24" for n in range(UNSEALED_AT_MOST)]}
    assert load_crawlers(json.dumps(lists)).name_of("10.0.15.1") == "a"
    lists["b"] = ["192.0.2.0/24"]
    with pytest.raises(ConfigError, match="stanchion crawlers apply"):
        load_crawlers(json.dumps(lists))
    assert json.loads(seal(check_crawlers(lists)))["names"] == ["a", "b"], "it is JSON all the same"


@given(st.text(max_size=200))
@example('{"checked": "8f1dbb4d",\n')
def test_any_text_is_a_list_or_refused(text: str) -> None:
    for each in (text, '{"checked": "' + text):
        with suppress(ConfigError):
            assert isinstance(load_crawlers(each), Crawlers)


# --- at the door ----------------------------------------------------------------------------------------------------------

AGENT = "Mozilla/5.0 (compatible; Findbot/2.1; +http://find.example/bot.html)"


def a_world(crawlers: str, **values: Any) -> World:
    world = World(queue(crawlers=crawlers, **(MANUAL | values)))
    world.node.context.crawlers = lambda: FOUND
    return world


def bot(world: World, **values: Any) -> Browser:
    return Browser(world, client="192.0.2.9", **values)


def test_hold_is_a_503_for_later_and_no_place() -> None:
    world = a_world("hold", held_status=200)
    for method in ("GET", "HEAD", "POST"):
        got = bot(world).get(method=method)
        is_held(got, 503)
        assert got.header("Retry-After") == "600"
        assert not got.all("Set-Cookie")
    crawler = bot(world, accept=JSON)
    for got in (crawler.get(headers={"stanchion-token": "new"}), crawler.status()):
        assert (got.status, got.header("Retry-After"), got.all("Stanchion-Token"), got.all("Set-Cookie")) == (503, "600", [], [])
    assert world.snapshot().length == 0


def test_hold_lets_it_through_while_nobody_queues_and_counts_no_visit() -> None:
    world = a_world("hold", manual=False, admit_per_minute=10, burst=2)
    got = bot(world).get()
    assert got.forwarded is not None
    assert got.headers == []
    assert (world.snapshot().inside, world.snapshot().length) == (0, 0)
    full(world)
    world.pass_time(1)
    is_held(bot(world).get(), 503)


def test_pass_never_asks_the_store() -> None:
    world = a_world("pass")
    world.fault = away()
    got = bot(world).get()
    assert got.forwarded is not None
    assert (got.calls, got.headers) == ([], [])
    assert bot(world).status().state == "inside"


def test_as_people_is_as_people() -> None:
    world = a_world("as_people")
    crawler = bot(world)
    assert crawler.join() == 1


@pytest.mark.parametrize("crawlers", ["hold", "pass"])
def test_what_a_client_says_of_itself_counts_for_nothing(crawlers: str) -> None:
    world = a_world(crawlers)
    liar = Browser(world, client="192.0.2.200")
    got = liar.get(headers={"user-agent": AGENT, "from": "bot@find.example", "accept": HTML})
    is_held(got)
    assert got.header("Retry-After") == "1"
    assert liar.status().json["position"] == 1


@pytest.mark.parametrize("crawlers", ["hold", "pass"])
def test_without_a_list_nobody_is_a_crawler(crawlers: str) -> None:
    world = World(queue(crawlers=crawlers, **MANUAL))
    assert bot(world).join() == 1


def test_someone_with_a_place_keeps_it_in_whatever_network() -> None:
    world = a_world("hold")
    person = Browser(world)
    person.join()
    person.client = "192.0.2.9"
    assert person.status().json["position"] == 1
    assert person.get().slot("position") == "1"


def test_pass_goes_before_the_country_and_hold_does_not() -> None:
    for crawlers, forwarded in (("pass", True), ("hold", False)):
        got = bot(a_world(crawlers, countries=["JP"]), country="US").get()
        assert (got.forwarded is not None) is forwarded


@pytest.mark.parametrize("address", ["192.0.2.9", "2001:db8:1::5"])
def test_trouble_with_the_store_gives_a_crawler_no_page_to_index(address: str) -> None:
    world = a_world("hold")
    world.fault = away()
    got = Browser(world, client=address).get()
    is_held(got, 503)
    assert ip_address(address)


def test_the_key_is_the_one_of_the_docs() -> None:
    assert CRAWLERS_KEY == "crawlers.json"
