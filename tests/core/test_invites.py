"""Invitation links: what they prove, where they lead, and that nothing else does either."""

from __future__ import annotations

import base64
import contextlib
import json
from pathlib import Path
from typing import Any
from urllib.parse import parse_qs, urlsplit

import pytest
from click.testing import CliRunner, Result
from hypothesis import given
from hypothesis import strategies as st

from cli.main import main
from edge.core.errors import TokenError
from edge.core.invites import Invite, link, query_of, read_invite, safe_path, write_invite
from edge.core.keyring import Keyring
from edge.core.messages import Respond
from tests.core.support import KEYS, START_MS, Browser, Got, World, queue, set_cookies

LANES = [{"name": "standard", "share": 9}, {"name": "members", "rule": "cookie:member"}, {"name": "vip", "invite": True}]
DAY_MS = 86_400_000
RING = Keyring.parse(KEYS)


def world() -> World:
    return World(queue(lanes=LANES))


def text(ring: Keyring = RING, **values: Any) -> str:
    whole: dict[str, Any] = {"queue": "launch", "lane": "vip", "id": "i" * 16, "expires_ms": START_MS + DAY_MS}
    return write_invite(ring, Invite(**whole | values))


def click_on(browser: Browser, address: str) -> Got:
    parts = urlsplit(address)
    return browser.get(f"{parts.path}?{parts.query}")


def test_a_link_hands_out_a_candidate_of_the_lane_and_leads_on() -> None:
    browser = Browser(world())
    got = click_on(browser, link("https://shop.example.org", "launch", text(), "/launch/tickets?day=1"))
    assert (got.status, got.header("location")) == (303, "/launch/tickets?day=1")
    assert "no-store" in got.header("cache-control")
    claims = browser.token("stanchion-launch.c")
    assert (claims["l"], claims["i"], claims["q"]) == (2, "i" * 16, "launch")


def test_without_a_path_it_leads_to_what_the_queue_guards() -> None:
    assert click_on(Browser(world()), link("https://x", "launch", text())).header("location") == "/launch/"


def test_a_second_click_keeps_the_visitor() -> None:
    browser = Browser(world())
    click_on(browser, link("https://x", "launch", text()))
    visitor = browser.token("stanchion-launch.c")["v"]
    click_on(browser, link("https://x", "launch", text(id="j" * 16)))
    claims = browser.token("stanchion-launch.c")
    assert (claims["v"], claims["i"]) == (visitor, "j" * 16)


def test_a_link_costs_nobody_a_place() -> None:
    here = World(queue(lanes=LANES, manual=True, admit_per_minute=None, burst=None))
    browser = Browser(here)
    position = browser.join()
    got = click_on(browser, link("https://x", "launch", text()))
    assert (got.status, set_cookies(got)) == (303, {})
    assert browser.token()["p"] == position


@pytest.mark.parametrize(("token", "status", "words"), [
    ("", 403, "no invitation"),
    ("x.y.z", 403, "no invitation"),
    (text(queue="other"), 403, "no invitation"),
    (text(Keyring.parse("k1:" + base64.urlsafe_b64encode(b"another key of thirty-two bytes!").decode())), 403, "no invitation"),
    (RING.sign("candidate", {"q": "launch", "n": "vip", "i": "i", "x": 2**31, "v": "v"}), 403, "no invitation"),
    (RING.sign("invite", {"q": "launch", "n": "vip", "i": "i"}), 403, "no invitation"),
    (RING.sign("invite", {"q": "launch", "n": "vip", "i": "i", "x": [1]}), 403, "no invitation"),
    (text(expires_ms=START_MS - 1000), 410, "has run out"),
    (text(lane="members"), 410, "not open to invitations"),
    (text(lane="gone"), 410, "not open to invitations"),
])  # fmt: skip
def test_what_proves_nothing_gives_nothing(token: str, status: int, words: str) -> None:
    got = click_on(Browser(world()), link("https://x", "launch", token))
    assert (got.status, set_cookies(got)) == (status, {})
    assert words in got.json["detail"]


@pytest.mark.parametrize("to", [
    "//evil.example/", "/\\evil.example", "https://evil.example/", "evil", "", "/a%0d%0aSet-Cookie: x=1", "/%09/evil.example",
    "/a\\b", "/" + "x" * 1100, "/.stanchion/launch/leave", "javascript:alert(1)",
])  # fmt: skip
def test_it_leads_nowhere_else(to: str) -> None:
    got = click_on(Browser(world()), f"https://x/.stanchion/launch/invite?t={text()}&to={to}")
    assert got.status == 400
    assert not got.header("location")


@given(st.text(max_size=40))
def test_whatever_the_path_the_location_is_one_of_this_site_in_plain_ascii(to: str) -> None:
    path = safe_path(to)
    if path is not None:
        assert path.isascii()
        assert path.isprintable()
        assert path.startswith("/")
        assert urlsplit("https://shop.example.org" + path).netloc == "shop.example.org"
        assert not path.startswith(("//", "/\\"))


@given(st.dictionaries(st.sampled_from(["t", "to"]), st.text(max_size=20), max_size=2))
def test_a_query_is_read_as_the_standard_library_reads_it(query: dict[str, str]) -> None:
    address = link("https://x", "q", query.get("t", "t"), query.get("to", ""))
    found = query_of(address)
    assert {key: [value] for key, value in found.items()} == parse_qs(urlsplit(address).query, keep_blank_values=True)


def test_an_invitation_is_no_cookie_and_only_a_get_is_answered() -> None:
    here = world()
    browser = Browser(here)
    for name in ("stanchion-launch", "stanchion-launch.c"):
        browser.jar[f"__Host-{name}"] = (text(), 2**53)
    got = browser.get("/launch/")
    assert browser.value("stanchion-launch") != text()
    assert got.status in (200, 503)
    assert Browser(here).get("/.stanchion/launch/invite", "POST").status == 405
    with pytest.raises(TokenError):
        read_invite(RING, text(), "another")


# --- the command --------------------------------------------------------------------------------------------------------


def run(tmp_path: Path, *options: str, lanes: Any = LANES) -> Result:
    (tmp_path / "config.json").write_text(json.dumps({"queues": [queue(lanes=lanes)]}))
    environ = {"STANCHION_KV_DIR": str(tmp_path), "STANCHION_SIGNING_KEYS": KEYS}
    with contextlib.chdir(tmp_path):
        return CliRunner().invoke(main, ["invite", *options], env=environ)


def test_the_command_prints_links_that_differ_and_work(tmp_path: Path) -> None:
    options = ("--lane", "vip", "--count", "3", "--valid-for", "90m", "--base-url", "https://shop.example.org")
    result = run(tmp_path, "launch", "--to", "/launch/a", *options)
    assert result.exit_code == 0, result.output
    links = result.output.split()
    assert len(set(links)) == 3
    here = world()
    for address in links:
        assert address.startswith("https://shop.example.org/.stanchion/launch/invite?t=")
        here.now_ms = read_invite(RING, query_of(address)["t"], "launch").expires_ms - 90 * 60_000
        got = click_on(Browser(here), address)
        assert isinstance(got.decision, Respond)
        assert got.header("location") == "/launch/a"


@pytest.mark.parametrize(("options", "words"), [
    (("other", "--lane", "vip"), "no queue 'other'"),
    (("launch", "--lane", "members"), "lanes that take invitations are vip"),
    (("launch", "--lane", "vip", "--valid-for", "2y"), "90m, 12h or 7d"),
    (("launch", "--lane", "vip", "--valid-for", "400d"), "a year at most"),
    (("launch", "--lane", "vip", "--to", "//evil"), "--to"),
    (("launch", "--lane", "vip", "--base-url", "shop"), "--base-url"),
    (("launch", "--lane", "vip", "--count", "0"), "count"),
])  # fmt: skip
def test_the_command_says_what_is_wrong(tmp_path: Path, options: tuple[str, ...], words: str) -> None:
    result = run(tmp_path, *options)
    assert result.exit_code != 0
    assert words in result.output
