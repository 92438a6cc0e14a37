"""What the gate does with the origin's answer: where its cookie may go, and the origin's word that a visit is over."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from edge.core.conclude import ANSWER_HEADERS, conclude, shared_storage
from edge.core.cookies import cookie_name
from tests.core.support import MANUAL, Browser, Got, Headers, World, away, full, queue, set_cookies


def headers(*pairs: str) -> Headers:
    return [(name.lower(), value) for name, _, value in (pair.partition(": ") for pair in pairs)]


@pytest.mark.parametrize(
    "given_headers",
    [
        ("Cache-Control: private",),
        ("Cache-Control: no-store",),
        ("Cache-Control: private, max-age=600",),
        ("Cache-Control: PRIVATE",),
        ("Cache-Control: public", "Cache-Control: no-store"),
        ("Cache-Control: no-store, s-maxage=60",),
        ("Cache-Control: no-store", "Expires: Thu, 01 Jan 2099 00:00:00 GMT"),
    ],
)
def test_no_shared_cache_may_store_it(given_headers: tuple[str, ...]) -> None:
    assert shared_storage("GET", 200, headers(*given_headers)) == "no"


@pytest.mark.parametrize(
    "given_headers",
    [
        ("Cache-Control: public",),
        ("Cache-Control: max-age=60",),
        ('Cache-Control: max-age="60"',),
        ("Cache-Control: s-maxage=60, max-age=0",),
        ("Cache-Control: max-age=0", "Cache-Control: s-maxage=1"),
        ("Cache-Control: public, max-age=0",),
        ('Cache-Control: private="Set-Cookie", max-age=60',),
        ('Cache-Control: private="X-A, X-B", max-age=60',),
        ("Expires: Thu, 01 Jan 2099 00:00:00 GMT",),
        ("Expires: soon",),
        ("CDN-Cache-Control: max-age=60", "Cache-Control: no-store"),
        ("CDN-Cache-Control: public", "Cache-Control: private"),
        ("Surrogate-Control: max-age=3600+600", "Cache-Control: private"),
        ("Cache-Control: max-age=" + "9" * 6000,),
        ("Cache-Control: immutable, max-age=1",),
    ],
)
def test_a_shared_cache_may_store_it(given_headers: tuple[str, ...]) -> None:
    assert shared_storage("GET", 200, headers(*given_headers)) == "yes"


@pytest.mark.parametrize(
    "given_headers",
    [
        (),
        ("Content-Type: text/html",),
        ("Cache-Control: max-age=0",),
        ("Cache-Control: no-cache",),
        ("Cache-Control: no-cache", "Expires: Thu, 01 Jan 2099 00:00:00 GMT"),
        ("Cache-Control: max-age=0", "Expires: Thu, 01 Jan 2099 00:00:00 GMT"),
        ("Cache-Control: must-revalidate",),
        ("Cache-Control: ",),
        ("Cache-Control: max-age=\xb2",),
        ("Cache-Control: max-age=-5",),
        ("Cache-Control: max-age=0000",),
        ("CDN-Cache-Control: no-store",),
        ("CDN-Cache-Control: private, max-age=60",),
    ],
)
def test_nothing_is_said(given_headers: tuple[str, ...]) -> None:
    assert shared_storage("GET", 200, headers(*given_headers)) == "unsaid"


def test_answers_to_writes_are_not_stored() -> None:
    assert shared_storage("POST", 200, headers("Cache-Control: public, max-age=60")) == "no"
    assert shared_storage("HEAD", 200, headers("Cache-Control: public")) == "yes"


def test_a_304_would_change_an_answer_that_was_stored_for_all() -> None:
    assert shared_storage("GET", 304, []) == "yes"
    assert shared_storage("GET", 304, headers("Cache-Control: private")) == "no"
    world = World()
    got = Browser(world).get(answer=(304, []))
    assert got.forwarded is not None
    assert not got.headers
    assert world.snapshot().inside == 0  # the slot of an undelivered pass is given back


def test_the_cookie_is_appended_and_an_answer_that_says_nothing_becomes_private() -> None:
    world = World()
    got = Browser(world).get(answer=(200, []))
    assert got.header("Cache-Control") == "private"
    assert set(set_cookies(got)) == {"stanchion-launch"}
    private = Browser(world, client="198.51.1.1").get(answer=(200, headers("Cache-Control: private")))
    assert [name for name, _ in private.headers] == ["Set-Cookie"]
    write = Browser(World()).get("/launch/buy", "POST", answer=(200, []))
    assert [name for name, _ in write.headers] == ["Set-Cookie"]


def test_an_answer_for_shared_caches_stays_as_it_is() -> None:
    world = World()
    (inside,) = full(world, 1)
    world.pass_time(61)
    got = inside.get(answer=(200, headers("Cache-Control: public, max-age=60")))
    assert got.forwarded is not None
    assert got.headers == []
    assert "shared caches" in got.note
    assert world.snapshot().inside == 1  # a renewal that does not arrive ends nothing


# --- the origin's command -----------------------------------------------------------------------------------------------


def said(command: str, *more: str) -> tuple[int, Headers]:
    return 200, headers(f"Stanchion-Command: {command}", *(more or ("Cache-Control: private",)))


def visit() -> tuple[World, Browser]:
    world = World(queue(inventory=100))
    (inside,) = full(world, 1)
    return world, inside


def sold(world: World) -> int:
    left = world.snapshot().inventory_left
    assert left is not None
    return 100 - world.snapshot().inside - left


@pytest.mark.parametrize(
    ("command", "units"),
    [
        ("revoke", 0), ("complete", 1), (" Complete ", 1), ("REVOKE;", 0), ("complete; units=3", 3), ("complete;units=3", 3),
        ("complete; UNITS = 2", 2), ("complete;", 1),
    ],
)  # fmt: skip
def test_the_origin_ends_a_visit(command: str, units: int) -> None:
    world, inside = visit()
    got = inside.get(answer=said(command))
    assert got.calls == ["end"]
    assert got.note == ""
    assert "Max-Age=0" in set_cookies(got)["stanchion-launch"]
    assert world.snapshot().inside == 0
    assert sold(world) == units


@pytest.mark.parametrize("units", ["0", "-1", "x", "", "\xb2", "10001", "9" * 5000, "1.5"])
def test_units_that_are_no_number_count_as_one_and_are_noted(units: str) -> None:
    world, inside = visit()
    got = inside.get(answer=said(f"complete; units={units}"))
    assert "units" in got.note
    assert got.event == "malformed command"
    assert sold(world) == 1


@pytest.mark.parametrize(
    ("command", "units"),
    [("complete; unit=5", 1), ("complete; 5", 1), ("complete; units=3; lang=de", 3), ("REVOKE; x=1", 0), ("revoke; units=2", 0)],
)
def test_a_parameter_that_is_unknown_is_left_out_and_noted(command: str, units: int) -> None:
    world, inside = visit()
    got = inside.get(answer=said(command))
    assert (got.event, "which it does not know" in got.note) == ("malformed command", True)
    assert sold(world) == units
    assert world.snapshot().inside == 0


def test_a_second_command_is_noted_and_the_first_one_counts() -> None:
    world, inside = visit()
    got = inside.get(answer=said("complete; units=2", "Stanchion-Command: revoke", "Cache-Control: private"))
    assert (got.event, sold(world)) == ("malformed command", 2)
    assert "2 commands" in got.note


@pytest.mark.parametrize("command", ["", "complet", "revoke complete", "revoke, complete", "end", "\xff", "x" * 5000])
def test_an_unknown_command_changes_nothing_and_is_noted(command: str) -> None:
    world, inside = visit()
    got = inside.get(answer=said(command))
    assert "unknown command" in got.note
    assert got.event == "malformed command"
    assert len(got.note) < 200
    assert (got.calls, got.headers) == ([], [])
    assert world.snapshot().inside == 1


@pytest.mark.parametrize(
    "signs",
    [
        ("Age: 5",), ("Age: " + "9" * 5000,), ("X-Cache: HIT",), ("X-Cache: Hit from cloudfront",),
        ("X-Cache: TCP_MEM_HIT from a1",), ("X-Cache: MISS, HIT",), ("X-Cache: RefreshHit from cloudfront",),
        ("Cache-Status: edge; hit",),
        ("Cache-Status: a; fwd=miss, b; hit; ttl=3",), ("Cache-Status: a;hit=?1",),
    ],
)  # fmt: skip
def test_a_command_out_of_a_cache_ends_nobodys_visit(signs: tuple[str, ...]) -> None:
    world, inside = visit()
    got = inside.get(answer=said("revoke", "Cache-Control: private", *signs))
    assert "out of a cache" in got.note
    assert (got.calls, got.headers) == ([], [])
    assert world.snapshot().inside == 1


@pytest.mark.parametrize(
    "signs",
    [
        ("Age: 0",), ("Age: \xb2",), ("Age: x",), ("X-Cache: MISS",), ("X-Cache: Miss from whitehouse",), ("X-Cache: ,",),
        ("X-Cache: ",),
        ("Cache-Status: edge; fwd=uri-miss; stored",), ("Cache-Status: hitcache; fwd=miss",), ("Cache-Status: a; hit=?0",),
    ],
)  # fmt: skip
def test_a_command_that_only_went_by_a_cache_counts(signs: tuple[str, ...]) -> None:
    world, inside = visit()
    assert inside.get(answer=said("revoke", "Cache-Control: private", *signs)).calls == ["end"]
    assert world.snapshot().inside == 0


def test_a_command_in_an_answer_that_may_be_stored_counts_but_takes_no_cookie_away() -> None:
    world, inside = visit()
    got = inside.get(answer=said("complete", "Cache-Control: public, max-age=60"))
    assert got.calls == ["end"]
    assert got.headers == []
    world.pause()
    world.pass_time(1)
    assert inside.get().forwarded is None


def test_a_visit_ended_by_the_origin_is_forgotten_by_this_node_at_once() -> None:
    world, inside = visit()
    jar = dict(inside.jar)
    inside.get(answer=said("complete"))
    world.pause()
    world.pass_time(1)
    inside.jar = jar
    assert inside.get().forwarded is None


def test_the_first_answer_may_already_end_the_visit() -> None:
    world = World(queue(inventory=100))
    got = Browser(world).get(answer=said("complete; units=2"))
    assert got.calls[-1] == "end"
    assert "Max-Age=0" in set_cookies(got)["stanchion-launch"]
    assert (world.snapshot().inside, sold(world)) == (0, 2)


def test_a_command_without_a_visit_is_noted() -> None:
    world = World(queue(bypass=["/launch/open"]))
    for target in ("/about", "/launch/a.css", "/launch/open"):
        got = Browser(world).get(target, answer=said("revoke"))
        assert got.note == "no pass stands behind this answer"
        assert (got.calls, got.headers) == ([], [])


def test_a_command_ends_the_marked_pass_too() -> None:
    world = World(queue(**MANUAL, on_store_error="admit", store_error_admit_per_minute=5))
    world.fault = away()
    browser = Browser(world)
    assert browser.get().forwarded
    got = browser.get(answer=said("complete"))
    assert got.calls == []
    assert browser.value("stanchion-launch") == ""


def test_a_command_twice_frees_one_slot_once() -> None:
    world, inside = visit()
    other = full(world, 1)[0]
    jar = dict(inside.jar)
    inside.get(answer=said("complete"))
    inside.jar = jar
    inside.get(answer=said("complete"))
    assert world.snapshot().inside == 1
    assert sold(world) == 1
    assert other.get().forwarded


def test_a_queue_that_is_gone_meanwhile_is_no_error() -> None:
    world, inside = visit()
    request = inside.request("/launch/")
    line = '["gone","e","v",1,0,0,[]]'
    assert conclude(request, line, 200, headers("Stanchion-Command: revoke"), world.node.context).calls == ()


_VALUE = st.text(st.characters(max_codepoint=255, exclude_characters="\r\n"), max_size=40)
_CLAUSE = st.sampled_from(
    ["public", "private", "max-age=", "s-maxage=1", "no-store", "\xb2", "hit", "complete; units=", ",", ";", "="]
)
_SHARED = visit()


@given(st.lists(st.tuples(st.sampled_from([*ANSWER_HEADERS, "x-other"]), _VALUE | st.lists(_CLAUSE, max_size=5).map("".join))),
       st.sampled_from([200, 204, 304, 404, 500]), st.sampled_from(["GET", "POST", "HEAD"]))  # fmt: skip
def test_no_answer_is_an_error(given_headers: Headers, status: int, method: str) -> None:
    world, inside = _SHARED
    request = inside.request("/launch/", method)
    done = conclude(request, "", status, given_headers, world.node.context)
    assert all(name in ("Set-Cookie", "Cache-Control") for name, _ in done.headers)
    storable = shared_storage(method, status, given_headers) == "yes"
    if storable:
        assert not done.headers


def test_cookies_that_are_set_bear_the_name_for_the_scheme() -> None:
    world = World()
    plain = Browser(world, scheme="http")
    got: Got = plain.get()
    assert got.header("Set-Cookie").startswith(cookie_name(world.queue(), "http") + "=")
    assert "Secure" not in got.header("Set-Cookie")
    assert plain.get().forwarded
    assert plain.value("stanchion-launch")
