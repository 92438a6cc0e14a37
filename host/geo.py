"""The country of an address, out of a GeoIP database in the MaxMind format."""

from __future__ import annotations

import re
from pathlib import Path

import maxminddb

_COUNTRY = re.compile(r"[A-Z]{2}\Z")
# What databases and CDNs write for "not known".
_UNKNOWN = frozenset(("XX", "ZZ"))


class GeoError(Exception):
    """The database cannot be used. The text names the file and the fault."""


def country_code(text: str) -> str:
    """Two letters A to Z as they are; "" for everything else, and for the codes that mean "unknown"."""
    return text if _COUNTRY.match(text) and text not in _UNKNOWN else ""


class CountryDatabase:
    """An open database. Raises GeoError when the file is missing, or is none."""

    def __init__(self, path: Path) -> None:
        try:
            self._reader = maxminddb.open_database(path)
        except (OSError, maxminddb.InvalidDatabaseError) as error:
            raise GeoError(f"cannot use the GeoIP database {path}: {error}") from error

    def country(self, address: str) -> str:
        """The country of an IP address, or "" when the database does not know it."""
        try:
            record = self._reader.get(address)
        except (ValueError, maxminddb.InvalidDatabaseError):
            return ""
        country = record.get("country") if isinstance(record, dict) else None
        code = country.get("iso_code") if isinstance(country, dict) else None
        return country_code(code) if isinstance(code, str) else ""

    def close(self) -> None:
        """Unmaps the file."""
        self._reader.close()
