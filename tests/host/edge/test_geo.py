"""The country of an address, and a database that cannot be used."""

from __future__ import annotations

from pathlib import Path

import pytest

from host.geo import CountryDatabase, GeoError
from tests.host.edge.mmdb import write_mmdb
from tests.host.edge.support import run_edge, script, start_edge
from tests.host.edge.wire import get


def test_countries_of_addresses(tmp_path: Path) -> None:
    networks: dict[str, object] = {
        "203.0.113.0/24": "DE",
        "198.51.100.0/25": "FR",
        "198.51.100.128/25": {"continent": {"code": "EU"}},
        "192.0.2.0/24": {"country": "no record"},
        "192.0.3.0/24": "ZZ",
    }
    database = CountryDatabase(write_mmdb(tmp_path / "geo.mmdb", networks))
    expected = {
        "203.0.113.9": "DE",
        "198.51.100.1": "FR",
        "198.51.100.200": "",
        "192.0.2.1": "",
        "192.0.3.1": "",
        "8.8.8.8": "",
        "2001:db8::1": "",
        "no address": "",
    }
    assert {address: database.country(address) for address in expected} == expected
    database.close()


@pytest.mark.parametrize("content", [None, b"", b"not a database" * 100])
def test_a_database_that_cannot_be_used_is_named(tmp_path: Path, content: bytes | None) -> None:
    path = tmp_path / "geo.mmdb"
    if content is not None:
        path.write_bytes(content)
    with pytest.raises(GeoError, match=r"geo\.mmdb"):
        CountryDatabase(path)


def test_the_edge_does_not_start_without_the_database_that_it_is_told(tmp_path: Path) -> None:
    ended = run_edge({"STANCHION_MMDB": str(tmp_path / "missing.mmdb")})
    assert ended.returncode == 1
    assert "missing.mmdb" in ended.stderr
    assert "Traceback" not in ended.stderr


def test_the_gate_hears_the_country_of_the_address(tmp_path: Path) -> None:
    database = write_mmdb(tmp_path / "geo.mmdb", {"127.0.0.0/8": "NZ", "203.0.113.0/24": "DE"})
    settings = {"STANCHION_MMDB": str(database), "STANCHION_TRUSTED_PROXIES": "127.0.0.1"}
    with start_edge(settings) as edge:
        assert "\ncountry: NZ\n" in get(edge.port, "/", script("echo")).text
        far = get(edge.port, "/", "X-Forwarded-For: 203.0.113.9", script("echo")).text
        assert "\nclient: 203.0.113.9\ncountry: DE\n" in far
