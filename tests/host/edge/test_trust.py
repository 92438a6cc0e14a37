"""The edge behind a trusted proxy, on the wire: what the gate hears and what the origin gets."""

from __future__ import annotations

from tests.host.edge.conftest import Site
from tests.host.edge.support import script, start_edge
from tests.host.edge.wire import get, ok, raw_server

SETTINGS = {"STANCHION_TRUSTED_PROXIES": "127.0.0.0/8", "STANCHION_COUNTRY_HEADER": "X-Country"}

FORWARDED = (
    "X-Forwarded-For: 6.6.6.6, 203.0.113.9",
    "X-Forwarded-Proto: https",
    "X-Forwarded-Host: Shop.example:8443",
    "X-Country: DE",
    "Forwarded: for=203.0.113.9",
)


def test_the_gate_hears_what_the_proxy_says(site: Site) -> None:
    lines = site.get("/", "Host: inner.example", *FORWARDED, script("echo")).text.split("\n")
    assert lines[1:5] == ["scheme: https", "host: Shop.example:8443", "client: 203.0.113.9", "country: DE"]


def test_the_origin_gets_the_chain_with_the_proxy_appended(site: Site) -> None:
    site.get("/", "Host: inner.example", *FORWARDED)
    got = site.origin.last
    assert got.get("x-forwarded-for") == "6.6.6.6, 203.0.113.9, 127.0.0.1"
    assert got.get("x-forwarded-proto") == "https"
    assert got.get("x-forwarded-host") == "Shop.example:8443"
    assert got.get("host") == "inner.example"
    assert got.get("x-country") == "DE"
    assert got.get("forwarded") == "for=203.0.113.9"


def test_a_forwarded_host_that_is_none_is_not_believed(site: Site) -> None:
    text = site.get("/", "X-Forwarded-Host: a b/../c", script("echo")).text
    assert "\nhost: shop.example\n" in text


def test_a_country_can_be_tried_out_without_a_proxy() -> None:
    settings = {"STANCHION_COUNTRY_HEADER": "X-Country", "STANCHION_COUNTRY_TRUST_ALL": "1"}
    with start_edge(settings) as edge:
        assert "\ncountry: FR\n" in get(edge.port, "/", "X-Country: FR", script("echo")).text


def test_without_that_the_header_counts_for_nothing() -> None:
    with start_edge({"STANCHION_COUNTRY_HEADER": "X-Country"}) as edge:
        assert "\ncountry: \n" in get(edge.port, "/", "X-Country: FR", script("echo")).text


def test_the_origin_may_want_its_own_host() -> None:
    with raw_server(ok()) as origin:
        settings = {"STANCHION_ORIGIN_URL": f"{origin.url}/", "STANCHION_ORIGIN_HOST": "origin"}
        with start_edge(settings) as edge:
            get(edge.port, "/")
        assert origin.last.get("host") == origin.url.removeprefix("http://")
        assert origin.last.get("x-forwarded-host") == "shop.example"
