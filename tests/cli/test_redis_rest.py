"""Which first line the scripts get: Upstash knows one that a stock Redis refuses."""

from __future__ import annotations

from typing import Any

import click
import httpx
import pytest

from cli.redis_rest import ping, send
from edge.core.commands import take_snapshot
from tests.host.rest.servers import TOKEN, running_door


@pytest.mark.parametrize(("url", "flavour", "is_for_upstash"), [
    ("https://eu1-gate.upstash.io", "", True),
    ("https://redis.example.org", "redis", False),
    ("http://127.0.0.1:8082", "", False),
    ("http://127.0.0.1:8082", "upstash", True),
])  # fmt: skip
def test_the_flavour_is_what_the_setting_says_else_what_the_address_suggests(
    url: str, flavour: str, is_for_upstash: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    sent: list[list[str]] = []

    def post(url: str, *, json: list[str], **rest: Any) -> httpx.Response:
        sent.append(json)
        return httpx.Response(200, json={"result": [["missing"], []]})

    monkeypatch.setattr(httpx, "post", post)
    environ = {"UPSTASH_REDIS_REST_URL": url, "UPSTASH_REDIS_REST_TOKEN": "t", "STANCHION_REDIS_FLAVOUR": flavour}
    send(take_snapshot("sale", "00" * 16), environ)
    assert sent[0][1].startswith("#!lua flags=allow-key-locking\n") == is_for_upstash


@pytest.mark.parametrize(("status", "body", "said"), [
    (401, {"error": "WRONGPASS invalid token"}, "is UPSTASH_REDIS_REST_TOKEN right"),
    (403, {"error": "no"}, "is UPSTASH_REDIS_REST_TOKEN right"),
    (500, {"error": "down"}, "answered 500"),
    (200, ["PONG"], "answered 200"),
    (200, None, "does not answer"),
])  # fmt: skip
def test_a_ping_that_fails_says_why(status: int, body: object, said: str, monkeypatch: pytest.MonkeyPatch) -> None:
    def post(url: str, **rest: Any) -> httpx.Response:
        return httpx.Response(status, text="<html>") if body is None else httpx.Response(status, json=body)

    monkeypatch.setattr(httpx, "post", post)
    with pytest.raises(click.ClickException, match=said) as caught:
        ping({"UPSTASH_REDIS_REST_URL": "https://eu1-gate.upstash.io", "UPSTASH_REDIS_REST_TOKEN": "the-token"})
    assert "the-token" not in str(caught.value)


def test_the_bridge_answers_a_ping_and_knows_a_wrong_token() -> None:
    with running_door() as door:
        environ = {"UPSTASH_REDIS_REST_URL": door.url, "UPSTASH_REDIS_REST_TOKEN": TOKEN}
        ping(environ)
        with pytest.raises(click.ClickException, match="is UPSTASH_REDIS_REST_TOKEN right"):
            ping(environ | {"UPSTASH_REDIS_REST_TOKEN": "wrong"})
