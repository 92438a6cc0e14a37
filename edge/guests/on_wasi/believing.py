"""What a request's headers say about the visitor, as far as the deployment says that they may be believed."""

from __future__ import annotations

from collections.abc import Callable

from edge.guests.on_wasi.hop import Headers

# A variable of the environment by its name; empty when it is not set.
Setting = Callable[[str], str]

# What CDNs write for "not known".
_UNKNOWN = ("XX", "ZZ")


def joined(headers: Headers) -> dict[str, str]:
    """Headers by name; one that came several times in one line, cookies as cookies are joined."""
    found: dict[str, str] = {}
    for name, value in headers:
        text = value.decode("latin-1")
        if name in found:
            text = f"{found[name]}{'; ' if name == 'cookie' else ', '}{text}"
        found[name] = text
    return found


def country_of(headers: Headers, setting: Setting) -> str:
    """Two capital letters, or empty for unknown. The header is believed: who may send it is for the deployment to see to."""
    wanted = setting("STANCHION_COUNTRY_HEADER").lower()
    if not wanted:
        return ""
    told = {value for name, value in headers if name == wanted}
    # Two different values: one of them was not written by the proxy.
    text = told.pop().decode("latin-1") if len(told) == 1 else ""
    fits = len(text) == 2 and text.isascii() and text.isalpha() and text.isupper() and text not in _UNKNOWN
    return text if fits else ""


def client_of(headers: dict[str, str], setting: Setting) -> str:
    """The visitor's address: the last one that the named header has, which the nearest proxy wrote. wasi:http knows no peer."""
    name = setting("STANCHION_CLIENT_HEADER").lower()
    return headers.get(name, "").rpartition(",")[2].strip() if name else ""
