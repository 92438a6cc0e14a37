"""Whatever is sent, the answer is never a fault of ours, and what is refused has changed nothing."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from admin.limits import BOUNDS
from edge.core import commands
from tests.admin.conftest import API_TOKEN, Admin, Browser, sign_in

# Each example is a request to a running app; the state is put back by hand where it matters.
RUNNING = settings(max_examples=120, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])

JSON = st.recursive(
    st.none()
    | st.booleans()
    | st.integers()
    | st.floats()
    | st.text(max_size=8)
    | st.sampled_from(["config", "5", 1e3, 10**400, -1, 0]),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=6), inner, max_size=3),
    max_leaves=6,
)
NEAR_LIMITS = st.dictionaries(st.sampled_from([*BOUNDS, "manual", "count", ""]), JSON | st.integers(0, 10**9), max_size=4)
NEAR_COUNT = st.fixed_dictionaries({"count": JSON | st.integers(-5, 200_000)})
HEADERS = {"Authorization": f"Bearer {API_TOKEN}", "Content-Type": "application/json"}


@pytest.fixture
def open_admin(admin: Admin) -> Admin:
    admin.start()
    admin.visitors.join(admin.queues["sale"], 5)
    return admin


@pytest.fixture
def client(open_admin: Admin) -> Iterator[Any]:
    with open_admin.anyone() as made:
        yield made


def in_force(admin: Admin) -> list[Any]:
    found: list[Any] = admin.visitors.command(*commands.read_limits("sale"))
    return found


@RUNNING
@given(body=(JSON | NEAR_LIMITS).map(lambda value: json.dumps(value).encode()) | st.binary(max_size=60))
def test_limits(open_admin: Admin, client: Any, body: bytes) -> None:
    before = in_force(open_admin)
    answer = client.patch("/api/v1/queues/sale/limits", content=body, headers=HEADERS)
    assert answer.status_code in (200, 422), answer.text
    if answer.status_code == 422:
        assert in_force(open_admin) == before
        return
    asked = json.loads(body)
    for name, value in asked.items():
        if value != "config":
            assert answer.json()["limits"][name] == value
            assert name in answer.json()["limits"]["live"]
            assert not isinstance(value, (bool, str))
            # 5.0 is the number 5, as it is in JSON Schema.
            assert not isinstance(value, float) or value.is_integer()
    caps = [answer.json()["limits"][name] for name in ("admit_per_minute", "max_active", "inventory")]
    assert caps != [None, None, None]


@RUNNING
@given(body=(JSON | NEAR_COUNT).map(lambda value: json.dumps(value).encode()) | st.binary(max_size=60))
def test_admit(open_admin: Admin, client: Any, body: bytes) -> None:
    answer = client.post("/api/v1/queues/sale/admit", content=body, headers=HEADERS)
    assert answer.status_code in (200, 422), answer.text
    if answer.status_code == 200:
        count = json.loads(body)["count"]
        assert type(count) is int
        assert 1 <= count <= 100_000


@RUNNING
@given(
    step=st.sampled_from(["pause", "resume", "reset", "start"]),
    body=JSON.map(lambda value: json.dumps(value).encode()) | st.binary(max_size=40),
    kind=st.sampled_from(["application/json", "text/html", "application/json; x"]),
    key=st.text(alphabet=st.characters(min_codepoint=32, max_codepoint=126), max_size=12).map(str.strip),
)
def test_steps(open_admin: Admin, client: Any, step: str, body: bytes, kind: str, key: str) -> None:
    headers = {**HEADERS, "Content-Type": kind, "Idempotency-Key": key}
    answer = client.post(f"/api/v1/queues/sale/{step}", content=body, headers=headers)
    assert answer.status_code in (200, 415, 422), answer.text


@RUNNING
@given(queue_id=st.text(min_size=1, max_size=12), tail=st.sampled_from(["", "/pause", "/live", "/limits"]))
def test_addresses(open_admin: Admin, client: Any, queue_id: str, tail: str) -> None:
    from urllib.parse import quote

    escaped = quote(queue_id.encode("utf-8", "surrogatepass"), safe="")
    for prefix in ("/api/v1/queues/", "/queues/"):
        assert client.get(f"{prefix}{escaped}{tail}", headers=HEADERS).status_code < 500


FORM_FIELDS = ["count", "rate", "do", "confirm", "request_id", "never_ran", *BOUNDS, *(f"{name}-config" for name in BOUNDS)]


@RUNNING
@given(
    step=st.sampled_from(["admit", "rate", "limits", "pause", "resume", "start"]),
    fields=st.dictionaries(
        st.sampled_from(FORM_FIELDS),
        st.text(max_size=10) | st.integers().map(str) | st.sampled_from(["1", "1,200", "config", "٣"]),
    ),
)
def test_forms(open_admin: Admin, client: Any, step: str, fields: dict[str, str]) -> None:
    if "stanchion_admin" not in client.cookies or client.get("/").status_code != 200:
        sign_in(client)
    token = Browser(client).fields("/queues/sale/reset", "/queues/sale/reset")["csrf"]
    answer = client.post(f"/queues/sale/{step}", data={**fields, "csrf": token})
    assert answer.status_code in (303, 409, 422), answer.text[:400]


@RUNNING
@given(
    body=st.binary(max_size=80),
    kind=st.sampled_from(["application/x-www-form-urlencoded", "multipart/form-data; boundary=x", ""]),
)
def test_raw_forms(open_admin: Admin, client: Any, body: bytes, kind: str) -> None:
    for path in ("/sign-in", "/sign-out"):
        answer = client.post(path, content=body, headers={"Content-Type": kind} if kind else {})
        assert answer.status_code in (403, 415, 422)
