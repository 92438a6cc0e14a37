"""What a sandbox says by itself."""

from __future__ import annotations

import json

import pytest

from edge.guests.builtin import NO_GATE, NO_ORIGIN, NO_UPGRADE, built_in


@pytest.mark.parametrize("accept", ["", "*/*", "text/html", "application/json;q=0.5, text/html", "image/png"])
def test_people_get_a_page(accept: str) -> None:
    status, headers, body = built_in(502, NO_ORIGIN, accept)
    assert (status, dict(headers)["content-type"]) == (502, "text/html; charset=utf-8")
    assert f"<p>{NO_ORIGIN}</p>" in body.decode()


@pytest.mark.parametrize("accept", ["application/json", "Application/Problem+JSON, */*"])
def test_programs_get_problem_details(accept: str) -> None:
    _, headers, body = built_in(503, NO_GATE, accept)
    assert dict(headers) == {"content-type": "application/problem+json", "cache-control": "no-store", "retry-after": "5"}
    assert json.loads(body) == {"type": "about:blank", "title": "Service Unavailable", "status": 503, "detail": NO_GATE}


def test_what_time_does_not_heal_names_no_time() -> None:
    assert "retry-after" not in dict(built_in(501, NO_UPGRADE)[1])
