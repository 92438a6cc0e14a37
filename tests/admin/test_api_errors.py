"""Every error of the API is a problem document that says why."""

from __future__ import annotations

from http import HTTPStatus
from typing import Any

import httpx
import pytest

from edge.core import calls
from tests.admin.conftest import Admin, Serve, sign_in
from tests.admin.world import free_port, queue_json


def problem(answer: httpx.Response, status: int) -> str:
    """The detail of a well-formed problem document."""
    assert answer.status_code == status, answer.text
    assert answer.headers["content-type"] == "application/problem+json"
    body = answer.json()
    assert (body["type"], body["status"], body["title"]) == ("about:blank", status, HTTPStatus(status).phrase)
    detail: str = body["detail"]
    assert detail.endswith(".")
    assert len(detail) > 15
    return detail


@pytest.mark.parametrize(
    "header", [None, "Bearer wrong-token-of-the-tests", "Bearer", "Basic YWRtaW46eA==", "api-token-of-the-tests"]
)
def test_401_with_a_challenge(admin: Admin, header: str | None) -> None:
    with admin.anyone() as client:
        answer = client.get("/api/v1/queues", headers={"Authorization": header} if header else {})
    problem(answer, 401)
    assert answer.headers["www-authenticate"].startswith('Bearer realm="stanchion"')


def test_the_scheme_is_bearer_in_any_case(admin: Admin) -> None:
    assert admin.api("GET", "/queues", headers={"Authorization": "bearer api-token-of-the-tests"}).status_code == 200


def test_a_session_is_no_token(admin: Admin) -> None:
    with admin.anyone() as client:
        sign_in(client)
        problem(client.get("/api/v1/queues"), 401)
        problem(client.post("/api/v1/queues/sale/reset"), 401)


def test_404(admin: Admin) -> None:
    assert "nope" in problem(admin.api("GET", "/queues/nope"), 404)
    for method, rest in (("POST", "pause"), ("POST", "start"), ("POST", "admit"), ("PATCH", "limits")):
        problem(admin.api(method, f"/queues/nope/{rest}", json={} if rest in ("pause", "start") else {"count": 1}), 404)
    problem(admin.api("GET", "/nothing"), 404)
    problem(admin.api("GET", "/queues/%ff%00%ed%a0%80"), 404)


def test_405_names_what_is_possible(admin: Admin) -> None:
    answer = admin.api("GET", "/queues/sale/pause")
    assert "POST" in problem(answer, 405)
    assert answer.headers["allow"] == "POST"
    problem(admin.api("DELETE", "/queues/sale"), 405)


@pytest.mark.parametrize("kind", [None, "text/plain", "application/x-www-form-urlencoded", "application/jsonp"])
def test_415(admin: Admin, kind: str | None) -> None:
    admin.start()
    answer = admin.api("POST", "/queues/sale/admit", content=b'{"count": 1}', headers={"Content-Type": kind} if kind else {})
    assert "application/json" in problem(answer, 415)


def test_a_charset_is_no_other_type(admin: Admin) -> None:
    admin.start()
    headers = {"Content-Type": "application/json; charset=utf-8"}
    assert admin.api("POST", "/queues/sale/admit", content=b'{"count": 1}', headers=headers).status_code == 200


def test_413_before_the_whole_body_is_read(admin: Admin) -> None:
    admin.start()

    def endless() -> Any:
        yield b'{"count": "'
        for _ in range(100):
            yield b"x" * 10_000

    answer = admin.api("POST", "/queues/sale/admit", content=endless(), headers={"Content-Type": "application/json"})
    assert "65536" in problem(answer, 413)


BAD_COUNTS = [
    b"",
    b"{",
    b"null",
    b"[]",
    b"5",
    b"{}",
    b'{"count": 0}',
    b'{"count": 100001}',
    b'{"count": 1.0}',
    b'{"count": 1e2}',
    b'{"count": "5"}',
    b'{"count": true}',
    b'{"count": null}',
    b'{"count": NaN}',
    b'{"count": -1}',
    b'{"count": 1, "x": 1}',
    b'{"count": 1, "count": 2}',
    b"\xff\xfe",
    b"[" * 60000,
    b'{"count": ' + b"9" * 5000 + b"}",
    b'{"\\ud800": 1}',
]


@pytest.mark.parametrize("body", BAD_COUNTS, ids=lambda body: body[:24])
def test_422_for_a_batch(admin: Admin, body: bytes) -> None:
    admin.start()
    problem(admin.api("POST", "/queues/sale/admit", content=body, headers={"Content-Type": "application/json"}), 422)


BAD_LIMITS = [
    b"{}",
    b"[]",
    b"null",
    b'{"rate": 5}',
    b'{"manual": true}',
    b'{"admit_per_minute": -1}',
    b'{"admit_per_minute": 1000001}',
    b'{"admit_per_minute": 1.5}',
    b'{"admit_per_minute": true}',
    b'{"admit_per_minute": "5"}',
    b'{"admit_per_minute": NaN}',
    b'{"admit_per_minute": Infinity}',
    b'{"admit_per_minute": "Config"}',
    b'{"admit_per_minute": []}',
    b'{"max_active": 0}',
    b'{"burst": 0}',
    b'{"inventory": 100000001}',
    b'{"\\ud800": 1}',
    b'{"admit_per_minute": 5, "epoch": "x"}',
]


@pytest.mark.parametrize("body", BAD_LIMITS, ids=lambda body: body[:32])
def test_422_for_limits(admin: Admin, body: bytes) -> None:
    admin.start()
    before = admin.visitors.client.hmget(calls.keys("sale")[0], "rate", "operator")
    problem(admin.api("PATCH", "/queues/sale/limits", content=body, headers={"Content-Type": "application/json"}), 422)
    assert admin.visitors.client.hmget(calls.keys("sale")[0], "rate", "operator") == before


def test_422_for_a_body_where_none_belongs(admin: Admin) -> None:
    admin.start()
    problem(admin.api("POST", "/queues/sale/reset", json={"confirm": True}), 422)
    problem(admin.api("POST", "/queues/sale/reset", content=b"now"), 415)


@pytest.mark.parametrize("key", ["", "x" * 256, "with blank"])
def test_422_for_a_key_that_is_none(admin: Admin, key: str) -> None:
    admin.start()
    answer = admin.api("POST", "/queues/sale/admit", json={"count": 1}, headers={"Idempotency-Key": key})
    assert "Idempotency-Key" in problem(answer, 422)


def test_429_when_a_script_runs_wild(admin: Admin) -> None:
    admin.start()
    now_ms = admin.visitors.state(admin.queues["sale"])["clock"]
    requests = next(key for key in calls.keys("sale") if key.endswith(":requests"))
    admin.visitors.client.hset(requests, mapping={f"pause {number}": f"{now_ms} x" for number in range(5000)})
    for answer in (
        admin.api("POST", "/queues/sale/pause"),
        admin.api("POST", "/queues/sale/admit", json={"count": 3}),
        admin.api("PATCH", "/queues/sale/limits", json={"admit_per_minute": 3}, headers={"Idempotency-Key": "x"}),
    ):
        problem(answer, 429)
        assert int(answer.headers["retry-after"]) > 0


def test_503_when_redis_is_away(serve: Serve) -> None:
    admin = serve(f"http://127.0.0.1:{free_port()}")
    admin.publish(queue_json("sale"))
    for method, path, body in (
        ("GET", "/queues", None), ("GET", "/queues/sale", None), ("POST", "/queues/sale/pause", None),
        ("POST", "/queues/sale/start", None), ("POST", "/queues/sale/admit", {"count": 1}),
        ("PATCH", "/queues/sale/limits", {"admit_per_minute": 5}),
    ):  # fmt: skip
        answer = admin.api(method, path, **({} if body is None else {"json": body}))
        assert "cannot be reached" in problem(answer, 503)
        assert int(answer.headers["retry-after"]) > 0


def test_503_when_the_rest_token_is_wrong(serve: Serve, bridge: Any) -> None:
    admin = serve(bridge.url, redis_token="another-token-than-the-bridge-has")
    admin.publish(queue_json("sale"))
    assert "UPSTASH_REDIS_REST_TOKEN" in problem(admin.api("POST", "/queues/sale/pause"), 503)
    assert "UPSTASH_REDIS_REST_TOKEN" in problem(admin.api("GET", "/queues/sale"), 503)


def test_a_fault_of_ours_tells_nothing_and_is_a_problem(admin: Admin, monkeypatch: pytest.MonkeyPatch) -> None:
    def broken(*_: object) -> None:
        raise RuntimeError("secret detail")

    monkeypatch.setattr(admin.app.state.desk.operations, "look", broken)
    answer = admin.api("GET", "/queues/sale")
    assert "secret" not in problem(answer, 500)
    assert answer.headers["x-frame-options"] == "DENY"


def test_answers_are_not_kept_by_caches(admin: Admin) -> None:
    for answer in (admin.api("GET", "/queues"), admin.api("GET", "/queues/nope")):
        assert answer.headers["cache-control"] == "no-store"
