"""The site's word for a lane: a JWT in a header or a cookie, and every way in which it is none."""

from __future__ import annotations

from typing import Any

import jwt
import pytest

from edge.core.config import check_config
from edge.core.lanes import has_rules, rule_headers, vouched_line
from edge.core.messages import Request
from edge.core.vouching import secret_name
from tests.core.support import START_MS, queue

SECRET = "a secret of the shop with 32 bytes and more"
LANES = [{"name": "standard"}, {"name": "members", "rule": "cookie:member"}, {"name": "staff", "rule": "header:X-Lane"}]
QUEUE = check_config({"queues": [queue(lanes=LANES)]}).queues[0]
EXP = START_MS // 1000 + 60


def word(lane: Any = "members", exp: Any = EXP, key: str = SECRET, algorithm: str = "HS256", **claims: Any) -> str:
    return jwt.encode({"lane": lane, "exp": exp} | claims, key, algorithm)


def line(cookie: str = "", header: str = "", secret: str = SECRET) -> int | None:
    headers = {"x-lane": header} if header else {}
    request = Request("GET", "/launch/", "https", "shop", "1.2.3.4", "", START_MS, "0" * 64, "r", headers)
    return vouched_line(QUEUE, request, cookie, secret)


def test_the_word_in_a_cookie_or_a_header_leads_to_its_lane() -> None:
    assert line(f"a=b; member={word()}; c=d") == 1
    assert line(header=word("staff", sub="anna")) == 2
    assert line(header=f"Bearer {word('staff')}") == 2
    assert line(f"member={word()}", word("staff")) == 1, "the first lane of the queue that holds"
    assert secret_name(QUEUE) == "lane:launch"
    assert has_rules(QUEUE)
    assert not has_rules(check_config({"queues": [queue()]}).queues[0])


def test_the_headers_that_rules_name_are_known_in_lower_case() -> None:
    other = check_config({"queues": [queue(lanes=[{"name": "a"}, {"name": "b", "rule": "header:Authorization"}])]}).queues
    assert rule_headers([QUEUE, *other]) == {"x-lane", "authorization"}
    assert rule_headers(()) == set()


@pytest.mark.parametrize("value", [
    "", "x", "a.b.c", word("staff"), word("standard"), word(exp=EXP - 61), word(exp="soon"), word(exp=None), word(exp=1e999),
    word(key=SECRET + "."), word(key=SECRET * 2, algorithm="HS512"), jwt.encode({"exp": EXP}, SECRET, "HS256"),
    jwt.encode({"lane": "members"}, SECRET, "HS256"), word(lane=["members"]),
    jwt.encode({"lane": "members", "exp": EXP}, None, "none"), word(pad="x" * 5000), "é" * 20,
])  # fmt: skip
def test_what_is_not_the_sites_word_for_this_lane_is_nothing(value: str) -> None:
    assert line(f"member={value}") is None


def test_a_name_is_compared_as_a_whole_and_without_a_secret_nobody_enters() -> None:
    assert line(f"amember={word()}; memberb={word()}") is None
    assert line(f"member={word()}", secret="") is None
    short = "31 bytes are a little too short"
    with pytest.warns(jwt.InsecureKeyLengthWarning):
        told = word(key=short)
    assert line(f"member={told}", secret=short) is None
