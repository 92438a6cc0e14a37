"""Which first line the scripts get: Upstash knows one that a stock Redis refuses."""

from __future__ import annotations

from typing import Any

import httpx
import pytest

from cli.redis_rest import send
from edge.core.commands import take_snapshot


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
