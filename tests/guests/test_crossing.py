"""The messages of the WIT file: read and written as its comments say, and nothing smuggles a line into one."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from edge.core import commands
from edge.core.messages import Batch, Forward, Reply, Respond
from edge.guests import crossing
from host.edge.messages import Commands, Facts, answer_message, parse_conclusion, parse_step, request_message
from host.edge.messages import Forward as HostForward
from host.edge.messages import Respond as HostRespond

HEADERS = [(b"accept", b"text/html"), (b"cookie", b"a=1"), (b"cookie", b"b=\xe9"), (b"origin", b""), (b"x-other", b"no")]
_TEXT = st.text(st.characters(max_codepoint=255, exclude_characters="\r\n\0"), max_size=40)


def facts(**values: Any) -> Facts:
    base: dict[str, Any] = {
        "method": "GET", "target": b"/launch/?a=%20&b= x", "scheme": "https", "host": "shop:8443", "client": "2001:db8::1",
        "country": "", "id": "req-1", "random": "5a" * 32, "headers": HEADERS,
    }  # fmt: skip
    return Facts(**base | values)


def crossed(given_facts: Facts, now_ms: int = 5, generation: str = "7") -> tuple[Any, str]:
    wanted = {name.encode() for name in crossing.REQUEST_HEADERS}
    return crossing.read_request(request_message(given_facts, wanted, now_ms, generation))


def test_every_header_that_the_core_asks_for_by_name_crosses() -> None:
    sources = [file.read_text("utf-8") for file in Path(crossing.__file__).parents[1].glob("core/*.py")]
    asked = {name for text in sources for name in re.findall(r"""request\.header\(["']([^"']+)["']\)""", text)}
    assert {"accept", "accept-language", "cookie"} <= asked <= set(crossing.REQUEST_HEADERS)


def test_a_request_as_the_host_writes_it() -> None:
    request, generation = crossed(facts())
    assert (request.method, request.target) == ("GET", "/launch/?a=%20&b= x")
    assert (request.scheme, request.host, request.client, request.country) == ("https", "shop:8443", "2001:db8::1", "")
    assert (request.now_ms, request.random, request.request_id, generation) == (5, "5a" * 32, "req-1", "7")
    assert request.headers == {"accept": "text/html", "cookie": "a=1; b=\xe9", "origin": ""}


def test_a_header_that_comes_twice_is_one_list() -> None:
    request, _ = crossed(facts(headers=[(b"accept", b"text/html;q=0.5"), (b"accept", b"application/json")]))
    assert request.header("accept") == "text/html;q=0.5, application/json"


def test_without_a_generation_the_store_is_looked_at_each_time() -> None:
    assert crossed(facts(), generation="")[1] == ""


@given(_TEXT, _TEXT, _TEXT)
def test_any_value_arrives_as_it_was_sent(target: str, cookie: str, accept: str) -> None:
    headers = [(b"cookie", cookie.encode("latin-1")), (b"accept", accept.encode("latin-1"))]
    request, _ = crossed(facts(target=target.encode("latin-1"), headers=headers))
    assert request.target == target
    assert request.headers == {"cookie": cookie, "accept": accept}


def test_only_the_headers_that_the_core_reads_are_wanted() -> None:
    assert list(crossing.REQUEST_HEADERS) == sorted(set(crossing.REQUEST_HEADERS))
    assert all(name == name.lower() for name in crossing.REQUEST_HEADERS)


def test_replies_by_the_names_of_their_batches() -> None:
    text = json.dumps([
        {"name": "snapshot:q", "results": [{"result": [1]}], "age_ms": 40},
        {"name": "join", "failed": "away", "away_ms": 6000, "stale": None},
        {"name": "touch", "failed": "slow", "away_ms": 3, "stale": {"results": [{"result": 2}], "age_ms": 900}},
    ])  # fmt: skip
    replies = crossing.read_replies(text)
    assert replies["snapshot:q"] == Reply([{"result": [1]}], 40)
    assert replies["join"] == Reply((), 0, "away", 6000, None)
    assert replies["touch"] == Reply((), 0, "slow", 3, Reply([{"result": 2}], 900))
    assert crossing.read_replies("") == {}
    assert crossing.read_replies("[]") == {}


def test_a_batch_as_the_host_reads_it() -> None:
    call = commands.take_snapshot("q", "ab" * 12)
    own = parse_step(crossing.write_batch(Batch("join", [call]), "redis"))
    assert isinstance(own, Commands)
    assert (own.name, own.shared_key) == ("join", None)
    assert json.loads(own.body) == [call.evalsha("redis")]
    for name, whole in (("snapshot:q", False), ("snapshot:q in full", True)):
        shared = parse_step(crossing.write_batch(Batch(name, [call], whole, True, 500), "upstash"))
        assert isinstance(shared, Commands)
        assert (shared.name, shared.shared_key, shared.max_age_ms) == (name, "snapshot:q", 500)
        assert json.loads(shared.body) == [call.eval("upstash") if whole else call.evalsha("upstash")]


def test_a_forward_as_the_host_reads_it() -> None:
    bare = parse_step(crossing.write_decision(Forward("no rule")))
    assert bare == HostForward(None, None, None, None, "no rule")
    full = parse_step(crossing.write_decision(Forward("pass 3", "launch", "a=1; b=\xe9", "a.b.c", '["launch"]')))
    assert full == HostForward("launch", b"a=1; b=\xe9", b"a.b.c", '["launch"]', "pass 3")
    none = parse_step(crossing.write_decision(Forward("x", cookie="")))
    assert isinstance(none, HostForward)
    assert none.cookie == b""


def test_a_response_as_the_host_reads_it() -> None:
    body = "<p>é\n\n</p>"
    headers = (("Set-Cookie", "a=1"), ("Set-Cookie", "b=2"), ("Retry-After", "5"))
    found = parse_step(crossing.write_decision(Respond(503, headers, body, "why")))
    assert found == HostRespond(503, tuple((n.encode(), v.encode()) for n, v in headers), body.encode(), "why")


@given(_TEXT | st.text(max_size=30), st.text(max_size=60))
def test_no_value_smuggles_a_line(value: str, body: str) -> None:
    text = crossing.write_decision(Respond(200, (("X-A", value), ("X-B", "end")), body, value))
    head, _, rest = text.partition("\n\n")
    assert rest == body
    assert [line.partition(":")[0] for line in head.split("\n")] == ["respond 200", "why", "h.X-A", "h.X-B"]
    text = crossing.write_decision(Forward(value, "q", value, "p", "c" + value))
    names = [line.partition(":")[0] for line in text.split("\n")]
    assert names == ["forward", "queue", "cookie", "pass", "conclude", "why", "", ""]


def test_an_answer_as_the_host_writes_it() -> None:
    text = answer_message(304, [(b"Cache-Control", b"no-store"), (b"Stanchion-Command", b"revoke"), (b"X", b"y")],
                          {b"cache-control"}, b"stanchion-")  # fmt: skip
    assert crossing.read_answer(text) == (304, [("cache-control", "no-store"), ("stanchion-command", "revoke")])
    assert crossing.read_answer("200") == (200, [])


def test_a_conclusion_as_the_host_reads_it() -> None:
    nothing = parse_conclusion(crossing.write_conclusion((), ()))
    assert (nothing.headers, nothing.commands) == ((), "")
    call = commands.end("q", "e", 1, "v", "left", "ab" * 12)
    found = parse_conclusion(crossing.write_conclusion([("Set-Cookie", "a=1"), ("Set-Cookie", "b=2")], [call.eval("redis")]))
    assert found.headers == ((b"Set-Cookie", b"a=1"), (b"Set-Cookie", b"b=2"))
    assert json.loads(found.commands) == [call.eval("redis")]


@pytest.mark.parametrize("text", ["GET /", "", "GET / HTTP\nscheme: x"])
def test_a_message_that_is_cut_off_is_an_error_at_once(text: str) -> None:
    with pytest.raises(ValueError):
        crossing.read_request(text)
