from __future__ import annotations

import json

import pytest

from edge.guests.rest import read_answer


def test_results_and_errors_of_commands_are_replies() -> None:
    told = [{"result": [["ok"], []]}, {"error": "NOSCRIPT no matching script"}]
    answered = read_answer(200, json.dumps(told).encode(), 2)
    assert answered.reply.results == told
    assert (answered.reply.failed, answered.problem) == ("", "")


@pytest.mark.parametrize(
    ("status", "content", "kind"),
    [
        (429, b"", "busy"),
        (400, b'{"error":"ERR max daily request limit exceeded. Limit: 10000"}', "busy"),
        (200, b'[{"error":"ERR max requests limit exceeded"}]', "busy"),
        (200, b"<html>a captive portal</html>", "away"),
        (200, b"\xff\xfe", "away"),
        (200, b'[{"result":1},{"result":2}]', "away"),
        (200, b'{"result":1}', "away"),
        (200, b"[1]", "away"),
        (401, b'{"error":"Unauthorized"}', "away"),
        (502, b'[{"result":1}]', "away"),
    ],
)
def test_everything_else_is_a_failure_with_its_reason(status: int, content: bytes, kind: str) -> None:
    answered = read_answer(status, content, 1)
    assert answered.reply.failed == kind
    assert answered.problem
