"""The table of settings: complete, checked, and silent about secrets."""

from __future__ import annotations

import base64
import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from host.component.build import ROOT
from host.edge.serve import guest_settings
from host.setting_rules import RULES
from host.settings import SETTINGS, SettingError, load, settings_reference

KEY = base64.urlsafe_b64encode(bytes(range(32))).decode()
SOURCES = ("edge", "host", "admin", "cli", "sim", "bench", "templates", "examples", "Makefile", ".ci")
NAME = re.compile(r"\b(?:STANCHION|UPSTASH|FASTLY)_[A-Z0-9_]*[A-Z0-9]\b")
TABLE = ROOT / "host" / "settings.py"
# Of the test suite alone.
OF_THE_TESTS = {"STANCHION_TEST_REQUIRE", "STANCHION_CONFORMANCE_HOST"}


def test_every_name_in_the_source_is_in_the_table() -> None:
    found: set[str] = set()
    for top in SOURCES:
        path = ROOT / top
        files = [path] if path.is_file() else [file for file in path.rglob("*") if file.is_file()]
        for file in files:
            if not {"__pycache__", "node_modules"} & set(file.parts) and file != TABLE:
                found.update(NAME.findall(file.read_text(encoding="utf-8", errors="ignore")))
    names = {setting.name for setting in SETTINGS}
    assert found - OF_THE_TESTS - names == set()
    assert names - found == set(), "settings that nothing reads"


def test_the_reference_has_a_row_for_each_setting() -> None:
    rows = settings_reference().splitlines()
    assert len(rows) == len(SETTINGS) + 2
    for setting, row in zip(SETTINGS, rows[2:], strict=True):
        assert row.startswith(f"| `{setting.name}` | ")
        assert setting.meaning.split(";")[0].rstrip(".") in row
        assert ("A secret." in row) == setting.secret
        assert row.count(" | ") == 2


def test_every_setting_has_a_rule_and_a_default_that_keeps_it() -> None:
    assert len({setting.name for setting in SETTINGS}) == len(SETTINGS)
    for setting in SETTINGS:
        assert setting.meaning.endswith(".")
        assert (setting.kind == "choice") == bool(setting.choices)
        assert setting.choices or setting.kind in RULES
        assert not (setting.secret and setting.default)
    assert load({})["STANCHION_BIND"] == "127.0.0.1"


GOOD = {
    "STANCHION_BIND": ("0.0.0.0", "::1", "localhost", "192.0.2.1"),
    "STANCHION_EDGE_PORT": ("0", "80", "65535"),
    "STANCHION_WORKERS": ("1", "256"),
    "STANCHION_ORIGIN_URL": ("http://a", "https://a.example:8443/", "http://[::1]:80", "http://a_b"),
    "STANCHION_TRUSTED_PROXIES": ("10.0.0.0/8", "10.1.2.3/8, ::1", "192.0.2.1,", "2001:db8::/32"),
    "STANCHION_SIGNING_KEYS": (f"a:{KEY}", f"a:{KEY} b-2.x:{KEY.rstrip('=')}", f" a:{KEY}\n"),
    "STANCHION_LANE_SECRETS": (f"drop={KEY}", f"drop={KEY} shop-2={KEY}=="),
    "STANCHION_COUNTRY_HEADER": ("CF-IPCountry",),
    "STANCHION_ADMIN_TOKEN": ("x" * 16,),
    "STANCHION_ON_CONFIG_ERROR": ("hold", "pass"),
    "STANCHION_COUNTRY_TRUST_ALL": ("0", "1"),
}
BAD = {
    "STANCHION_BIND": ("example.org", "1.2.3", "*"),
    "STANCHION_EDGE_PORT": ("-1", "65536", "8080x", "1.0", "٨"),
    "STANCHION_WORKERS": ("0", "257", "two"),
    "STANCHION_ORIGIN_URL": (
        "a.example",
        "ftp://a",
        "http://",
        "http://a/path",
        "http://a?x",
        "http://a#x",
        "http://u:p@a",
        "http://a:0",
        "http://a:99999",
        "http://a b",
        "http://ä",
        "http://[::1",
    ),
    "STANCHION_TRUSTED_PROXIES": ("10.0.0.0/33", "proxy.example", "10.0.0.0/8 ::1"),
    "STANCHION_SIGNING_KEYS": (
        KEY,
        f":{KEY}",
        "a:",
        f"a:{KEY[:20]}",
        f"a:{KEY} a:{KEY}",
        f"a:{KEY[:-2]}+/",
        f"a,b:{KEY}",
        f"a:{KEY[:-4]}=AAA",
    ),
    "STANCHION_LANE_SECRETS": (KEY[:31], f"drop:{KEY[:40]}", "drop=short", f"Drop={KEY}", f"drop={KEY} drop={KEY}"),
    "STANCHION_COUNTRY_HEADER": ("CF IPCountry", "X:", "Ä"),
    "STANCHION_ADMIN_TOKEN": ("x" * 15,),
    "STANCHION_ON_CONFIG_ERROR": ("maybe", "HOLD"),
    "STANCHION_COUNTRY_TRUST_ALL": ("yes", "2"),
}


@pytest.mark.parametrize(
    ("name", "value"), [(name, value) for name, values in GOOD.items() for value in values]
)
def test_what_fits(name: str, value: str) -> None:
    assert load({name: value})[name] == value.strip()


@pytest.mark.parametrize(
    ("name", "value"), [(name, value) for name, values in BAD.items() for value in values]
)
def test_what_does_not_fit_is_refused_with_name_and_rule(name: str, value: str) -> None:
    with pytest.raises(SettingError) as caught:
        load({name: value})
    text = str(caught.value)
    assert text.startswith(f"{name}: ")
    assert "Allowed: " in text
    secret = next(setting.secret for setting in SETTINGS if setting.name == name)
    assert (value in text) != secret or repr(value) in text


@given(st.dictionaries(st.sampled_from([setting.name for setting in SETTINGS]), st.text(max_size=40)))
def test_any_environment_loads_or_is_refused_by_name(environ: dict[str, str]) -> None:
    refusal = None
    try:
        settings = load(environ)
    except SettingError as error:
        refusal = error
    if refusal is None:
        assert settings.number("STANCHION_EDGE_PORT") >= 0
        assert settings.networks("STANCHION_TRUSTED_PROXIES") is not None
        return
    assert refusal.name in environ
    secret = next(setting.secret for setting in SETTINGS if setting.name == refusal.name)
    value = environ[refusal.name].strip()
    assert not secret or len(value) < 9 or value not in str(refusal)


def test_a_required_setting_that_is_missing_or_blank_is_named() -> None:
    for environ in ({}, {"STANCHION_SIGNING_KEYS": "  "}):
        with pytest.raises(SettingError, match=r"^STANCHION_SIGNING_KEYS: it is not set"):
            load(environ, ["STANCHION_SIGNING_KEYS"])


def test_local_addresses_follow_bind_and_ports() -> None:
    ports = {"STANCHION_ORIGIN_PORT": "1", "STANCHION_REDIS_PORT": "2"}
    for bind, host in (
        ("127.0.0.1", "127.0.0.1"),
        ("0.0.0.0", "127.0.0.1"),
        ("::", "[::1]"),
        ("::1", "[::1]"),
    ):
        settings = load(ports | {"STANCHION_BIND": bind})
        assert settings.origin_url == f"http://{host}:1"
        assert settings.redis_rest_url == f"http://{host}:2"
    given_urls = load({"STANCHION_ORIGIN_URL": "https://a/", "UPSTASH_REDIS_REST_URL": "https://b"})
    assert (given_urls.origin_url, given_urls.redis_rest_url) == ("https://a", "https://b")


def test_settings_do_not_show_their_values() -> None:
    assert KEY not in repr(load({"STANCHION_SIGNING_KEYS": f"a:{KEY}"}))


@pytest.mark.parametrize(
    ("environ", "flavour"),
    [
        ({}, "redis"),
        ({"UPSTASH_REDIS_REST_URL": "http://localhost:1"}, "redis"),
        ({"UPSTASH_REDIS_REST_URL": "http://[::1]:1"}, "redis"),
        ({"UPSTASH_REDIS_REST_URL": "https://eu1-x.upstash.io"}, "upstash"),
        ({"UPSTASH_REDIS_REST_URL": "https://127.0.0.1.example.org"}, "upstash"),
        ({"UPSTASH_REDIS_REST_URL": "http://bridge:8082", "STANCHION_REDIS_FLAVOUR": "redis"}, "redis"),
    ],
)
def test_the_guest_is_told_what_answers_behind_the_rest_address(
    environ: dict[str, str], flavour: str
) -> None:
    told = guest_settings(load(environ))
    assert told == {"STANCHION_ON_CONFIG_ERROR": "hold", "STANCHION_REDIS_FLAVOUR": flavour}
