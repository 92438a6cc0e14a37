"""The line of the log about a request is JSON whatever the request holds, and says nothing that it should not."""

from __future__ import annotations

import json

import pytest

from edge.core.messages import Decision, Forward, Request, Respond
from edge.guests.log_line import request_line

ODD = 'a"b\\c\nd\u2028\udcffé'


def request(target: str, text: str = "x") -> Request:
    return Request(text, target, "http", text, "192.0.2.7", "JP", 0, "5a" * 32, "ab12", {})


@pytest.mark.parametrize(
    ("decision", "verb", "why", "queue"),
    [(Forward("rule", "sale"), "forward", "rule", "sale"), (Forward("no rule"), "forward", "no rule", None),
     (Respond(503, (), "", ODD), "respond", ODD, None), (None, "forward", "", None)],
)  # fmt: skip
def test_a_line(decision: Decision | None, verb: str, why: str, queue: str | None) -> None:
    told = json.loads(request_line(request("/a?secret=1#x"), decision, 503, 12_345))
    assert (told["verb"], told["why"], told.get("queue")) == (verb, why, queue)
    assert (told["event"], told["id"], told["status"], told["path"], told["ms"]) == ("request", "ab12", 503, "/a", 12.3)
    assert "at" not in told


def test_odd_requests_are_one_line_and_the_time_is_said_where_it_is_asked_for() -> None:
    line = request_line(request(f"/{ODD}" + "x" * 600 + "?q", ODD), None, 200, 9, 1_700_000_000_005)
    told = json.loads(line)
    assert (told["method"], told["host"], told["at"], told["ms"]) == (ODD, ODD, 1_700_000_000.005, 0.0)
    assert "\n" not in line
    assert "192.0.2" not in line
    assert len(told["path"]) == 500
