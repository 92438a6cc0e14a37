"""Request ids, log lines, health: what is left behind of a request, and what is said when something is away."""

from __future__ import annotations

import json
from typing import Any

import httpx
import pytest

from admin.state.db import StateUnavailable
from tests.admin.conftest import API_TOKEN, PASSWORD, Admin, Serve, sign_in
from tests.admin.world import Bridge, free_port, queue_json


def lines(capfd: pytest.CaptureFixture[str], event: str) -> list[dict[str, Any]]:
    found = [json.loads(line) for line in capfd.readouterr().err.splitlines() if line.startswith("{")]
    return [line for line in found if line["event"] == event]


def test_a_request_has_one_id_everywhere(admin: Admin, capfd: pytest.CaptureFixture[str]) -> None:
    admin.start()
    capfd.readouterr()
    answer = admin.api("POST", "/queues/sale/pause")
    request_id = answer.headers["x-request-id"]
    refused = admin.api("POST", "/queues/nothing/pause")
    assert refused.json()["request_id"] == refused.headers["x-request-id"] != request_id
    entry = admin.api("GET", "/audit", params={"limit": 1}).json()["entries"][0]
    assert (entry["action"], entry["request_id"]) == ("queue.pause", request_id)
    requests = lines(capfd, "request")
    first = next(line for line in requests if line["request_id"] == request_id)
    expected = {"room": "admin", "method": "POST", "path": "/api/v1/queues/sale/pause", "status": 200, "by": "token"}
    assert {name: first[name] for name in expected} == expected


def test_only_a_trusted_proxy_names_a_request(serve: Serve, bridge: Bridge, admin: Admin) -> None:
    given = {"X-Request-Id": "from-the-proxy-1"}
    assert admin.api("GET", "/me", headers=given).headers["x-request-id"] != given["X-Request-Id"]
    behind = serve(bridge.url, trusted_proxies=("127.0.0.1/32",))
    assert behind.api("GET", "/me", headers=given).headers["x-request-id"] == given["X-Request-Id"]
    for bad in ("short", "with blank 1", "x" * 200, '"quote12345'):
        assert behind.api("GET", "/me", headers={"X-Request-Id": bad}).headers["x-request-id"] != bad


def test_no_secret_is_in_the_log(admin: Admin, capfd: pytest.CaptureFixture[str]) -> None:
    code = admin.app.state.desk.doors.first_link()
    made = admin.api("POST", "/tokens", json={"name": "x", "scopes": ["see"]}).json()["secret"]
    link = admin.api("POST", "/people", json={"name": "mai", "role": "viewer"}).json()["link"]
    with admin.anyone() as client:
        client.get(f"/first/{code}")
        client.get(link)
        sign_in(client)
        client.get(f"/?secret={PASSWORD}")
    admin.api("GET", "/me", token=made)
    said = capfd.readouterr().err
    assert '"path": "/first/…"' in said.replace("\\u2026", "…")
    for secret in (code, made, link.rpartition("/")[2], PASSWORD, API_TOKEN):
        assert secret not in said


def test_health_without_redis_and_without_configuration(serve: Serve) -> None:
    admin = serve(f"http://127.0.0.1:{free_port()}")
    admin.publish(queue_json("sale"))
    with admin.anyone() as client:
        sign_in(client)
        page = client.get("/queues/sale")
        assert page.status_code == 200
        assert "Redis is away" in page.text
        assert client.get("/healthz").json() == {"status": "ok", "database": "ok", "redis": "away", "configuration": "ok"}
        assert client.get("/readyz").status_code == 200
        (admin.settings.kv_dir / "config.json").write_text("{")
        admin.clock.ahead_s += 5
        assert client.get("/healthz").json()["configuration"] == "bad"
        assert "Configuration" in client.get("/account").text
        assert client.post("/account/end-session", data={"csrf": csrf(client)}).status_code == 303, "one's account still works"


def csrf(client: httpx.Client) -> str:
    return client.get("/account").text.partition('name="csrf" value="')[2].partition('"')[0]


def test_the_app_without_its_database(admin: Admin, monkeypatch: pytest.MonkeyPatch) -> None:
    admin.start()
    with admin.anyone() as client:
        sign_in(client)

        def away(*anything: object) -> None:
            raise StateUnavailable("the admin's own database does not answer: it was unplugged")

        monkeypatch.setattr(admin.app.state.desk.db, "_transact", away)
        page = client.get("/")
        assert (page.status_code, "unplugged" in page.text) == (503, True)
        assert client.get("/healthz").status_code == 200
        ready = client.get("/readyz")
        assert (ready.status_code, ready.json()["database"]) == (503, "away")
        assert client.get("/sign-in").status_code == 200
        assert admin.api("GET", "/audit").status_code == 503
        paused = admin.api("POST", "/queues/sale/pause")
        assert paused.status_code == 200, "the token by setting works in an emergency"
        monkeypatch.undo()
        assert client.get("/").status_code == 200, "the session is still there"
