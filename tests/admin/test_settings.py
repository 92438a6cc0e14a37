"""Settings: defaults, and a clear sentence for each value that cannot be."""

from __future__ import annotations

import pytest

from admin.settings import SettingsError, load

TOKEN = {"UPSTASH_REDIS_REST_TOKEN": "rest-token"}


def test_defaults() -> None:
    found = load(TOKEN)
    assert (found.bind, found.port, found.redis_url) == ("127.0.0.1", 8081, "http://127.0.0.1:8082")
    assert (str(found.kv_dir), str(found.admin_dir)) == (".stanchion/kv", ".stanchion/admin")
    assert (found.redis_flavour, found.local, found.trusted_proxies) == ("redis", False, ())


@pytest.mark.parametrize(
    ("url", "flavour", "expected"),
    [
        ("https://eu1-x.upstash.io", "", "upstash"),
        ("http://127.0.0.1:8082", "", "redis"),
        ("http://[::1]:8082/", "", "redis"),
        ("http://localhost", "", "redis"),
        ("https://bridge.internal", "redis", "redis"),
        ("http://127.0.0.1:8082", "upstash", "upstash"),
    ],
)
def test_flavour(url: str, flavour: str, expected: str) -> None:
    found = load({**TOKEN, "UPSTASH_REDIS_REST_URL": url, "STANCHION_REDIS_FLAVOUR": flavour})
    assert found.redis_flavour == expected
    assert not found.redis_url.endswith("/")


def test_localhost_is_an_address() -> None:
    assert load({**TOKEN, "STANCHION_BIND": "localhost"}).bind == "127.0.0.1"


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("STANCHION_ADMIN_PORT", "http"),
        ("STANCHION_ADMIN_PORT", "65536"),
        ("STANCHION_ADMIN_PORT", "-1"),
        ("STANCHION_ADMIN_PORT", "٣"),
        ("STANCHION_BIND", "example.org"),
        ("STANCHION_REDIS_FLAVOUR", "keydb"),
        ("STANCHION_TRUSTED_PROXIES", "10.0.0.0/99"),
        ("STANCHION_ADMIN_TOKEN", "short"),
        ("UPSTASH_REDIS_REST_URL", "redis://x"),
        ("UPSTASH_REDIS_REST_URL", "http://[x"),
        ("UPSTASH_REDIS_REST_URL", "http://x:99999"),
        ("UPSTASH_REDIS_REST_TOKEN", "two words"),
        ("UPSTASH_REDIS_REST_TOKEN", ""),
    ],
)
def test_a_wrong_value_is_named(name: str, value: str) -> None:
    with pytest.raises(SettingsError, match=name) as caught:
        load({**TOKEN, name: value})
    if "TOKEN" in name and value:
        assert value not in str(caught.value)
