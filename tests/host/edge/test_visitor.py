"""Who is believed about where a visitor comes from."""

from __future__ import annotations

import ipaddress

import pytest
from hypothesis import given
from hypothesis import strategies as st

from host.edge.visitor import Trust, normal_address
from host.setting_rules import parse_networks

PROXIES = parse_networks("10.0.0.0/8, 192.0.2.7, 2001:db8::/32")


def visitor(
    peer: str, *fields: tuple[str, str], trust: Trust | None = None
) -> tuple[str, str, str | None, str]:
    """Client, scheme, host and country of a request."""
    headers = [(name.lower().encode(), value.encode("latin-1")) for name, value in fields]
    found = (trust or Trust(PROXIES)).visitor(peer, "http", headers)
    return found.client, found.scheme, found.host, found.country


def client(peer: str, *chain: str) -> str:
    """The client address for X-Forwarded-For headers with these values."""
    return visitor(peer, *(("X-Forwarded-For", value) for value in chain))[0]


@pytest.mark.parametrize(
    ("peer", "chain", "expected"),
    [
        ("203.0.113.9", ("1.1.1.1",), "203.0.113.9"),
        ("10.0.0.1", (), "10.0.0.1"),
        ("10.0.0.1", ("203.0.113.9",), "203.0.113.9"),
        ("10.0.0.1", ("1.1.1.1, 203.0.113.9",), "203.0.113.9"),
        ("10.0.0.1", ("1.1.1.1, 203.0.113.9, 10.0.0.2",), "203.0.113.9"),
        ("10.0.0.1", ("1.1.1.1", "203.0.113.9, 192.0.2.7"), "203.0.113.9"),
        ("10.0.0.1", ("10.0.0.3, 10.0.0.2",), "10.0.0.3"),
        ("10.0.0.1", ("203.0.113.9:4711",), "203.0.113.9"),
        ("2001:db8::1", ("[2400::5]:443",), "2400::5"),
        ("2001:db8::1", ("2400:0:0::5",), "2400::5"),
        ("10.0.0.1", ("::ffff:203.0.113.9",), "203.0.113.9"),
        ("::ffff:10.0.0.1", ("203.0.113.9",), "203.0.113.9"),
        ("10.0.0.1", ("unknown",), "10.0.0.1"),
        ("10.0.0.1", ("203.0.113.9, garbage, 10.0.0.2",), "10.0.0.2"),
        ("10.0.0.1", (" , ,",), "10.0.0.1"),
        ("192.0.2.8", ("203.0.113.9",), "192.0.2.8"),
    ],
)
def test_the_chain_is_walked_from_the_right_over_trusted_proxies(
    peer: str, chain: tuple[str, ...], expected: str
) -> None:
    assert client(peer, *chain) == expected


@given(st.lists(st.text(max_size=20), max_size=5).map(", ".join))
def test_any_chain_gives_an_address(chain: str) -> None:
    found = client("10.0.0.1", chain.encode("latin-1", "replace").decode("latin-1"))
    ipaddress.ip_address(found)


def test_nobody_is_trusted_by_default() -> None:
    fields = (("X-Forwarded-For", "1.1.1.1"), ("X-Forwarded-Proto", "https"), ("X-Forwarded-Host", "x"))
    assert visitor("127.0.0.1", *fields, trust=Trust()) == ("127.0.0.1", "http", None, "")


def test_scheme_and_host_are_those_that_the_proxy_next_to_the_visitor_saw() -> None:
    fields = (
        ("X-Forwarded-For", "6.6.6.6, 203.0.113.9, 10.0.0.2"),
        ("X-Forwarded-Proto", "gopher, https, http"),
        ("X-Forwarded-Host", "forged, shop.example, inner"),
    )
    assert visitor("10.0.0.1", *fields) == ("203.0.113.9", "https", "shop.example", "")


def test_a_proxy_that_replaces_leaves_one_value() -> None:
    fields = (("X-Forwarded-For", "6.6.6.6, 203.0.113.9, 10.0.0.2"), ("X-Forwarded-Proto", "HTTPS"))
    assert visitor("10.0.0.1", *fields)[1] == "https"
    assert visitor("10.0.0.1", ("X-Forwarded-Proto", "https"))[1] == "https"
    assert visitor("10.0.0.1", ("X-Forwarded-Proto", "nonsense"))[1] == "http"


@pytest.mark.parametrize(
    ("values", "expected"),
    [
        (("DE",), "DE"),
        (("de",), ""),
        (("DEU",), ""),
        (("D1",), ""),
        (("XX",), ""),
        (("",), ""),
        (("ÄÖ",), ""),
        (("DE\n",), ""),
        (("DE", "DE"), "DE"),
        (("DE", "FR"), ""),
        ((), "FR"),
    ],
)
def test_a_country_is_two_letters_from_a_trusted_proxy(values: tuple[str, ...], expected: str) -> None:
    trust = Trust(PROXIES, "CF-IPCountry", country_of=lambda address: "FR")
    fields = tuple(("CF-IPCountry", value) for value in values)
    assert visitor("10.0.0.1", *fields, trust=trust)[3] == expected
    # From anyone else the header counts for nothing and the database answers.
    assert visitor("203.0.113.9", *fields, trust=trust)[3] == "FR"


def test_the_country_header_can_be_tried_out_by_anyone_when_so_set() -> None:
    trust = Trust((), "X-Country", trust_all_countries=True)
    assert visitor("203.0.113.9", ("x-country", "DE"), trust=trust)[3] == "DE"


def test_the_database_is_asked_for_the_visitor_not_for_the_proxy() -> None:
    asked: list[str] = []

    def country_of(address: str) -> str:
        asked.append(address)
        return "DE"

    visitor("10.0.0.1", ("X-Forwarded-For", "203.0.113.9"), trust=Trust(PROXIES, country_of=country_of))
    assert asked == ["203.0.113.9"]


@pytest.mark.parametrize(
    ("text", "expected"),
    [("fe80::1%eth0", "fe80::1"), ("1.2.3", None), ("", None), ("x" * 10_000, None), ("[::1", "::1")],
)
def test_addresses_are_brought_into_one_form(text: str, expected: str | None) -> None:
    assert normal_address(text) == expected
