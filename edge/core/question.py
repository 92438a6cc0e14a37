"""A request out of an address that a person wrote down, for `explain`: what a browser would send for it."""

from __future__ import annotations

import re
from collections.abc import Mapping
from urllib.parse import quote

from edge.core.errors import CoreError
from edge.core.messages import Request

URL_MAX_CHARACTERS = 8192
HEADERS_AT_MOST = 50
_METHOD = re.compile(r"[!#$%&'*+.^_`|~0-9A-Za-z-]{1,32}").fullmatch  # a token, RFC 9110, section 5.6.2
_COUNTRY = re.compile(r"[A-Z]{2}").fullmatch
_HOST = re.compile(r"[A-Za-z0-9._-]+|\[[0-9A-Fa-f:.]+\]").fullmatch
_PORT = re.compile(r"(?::[0-9]{0,5})?").fullmatch
_NO_COUNTRY = ("XX", "ZZ")


class BadQuestion(CoreError):
    """Something in the question is no address, method, country or header. `path` names which part."""

    def __init__(self, path: str, problem: str) -> None:
        super().__init__(f"{path}: {problem}")
        self.path = path
        self.problem = problem


def question(url: str, *, method: str = "GET", country: str = "", headers: Mapping[str, str] | None = None, client: str = "",
             now_ms: int = 0) -> Request:  # fmt: skip
    """The request for an address such as `https://shop.example.org/launch?a=1`; one that begins with `/` names no host.

    `country`: two letters, or empty for unknown. `client`: the visitor's network address. Raises BadQuestion.
    """
    scheme, host, target = _parts(url)
    if not _METHOD(method):
        raise BadQuestion("method", f"{method[:40]!r} is not allowed: a method such as GET or POST")
    country = country.strip().upper()
    if country and not _COUNTRY(country):
        raise BadQuestion("country", f"{country[:40]!r} is not allowed: two letters (ISO 3166-1), or none for unknown")
    sent = _headers(headers or {})
    return Request(method, target, scheme, host, client, "" if country in _NO_COUNTRY else country, now_ms, "0" * 64, "", sent)


def _headers(headers: Mapping[str, str]) -> dict[str, str]:
    if len(headers) > HEADERS_AT_MOST:
        raise BadQuestion("headers", f"at most {HEADERS_AT_MOST} are looked at")
    sent = {name.strip().lower(): value.strip() for name, value in headers.items()}
    for name, value in sent.items():
        if not _METHOD(name) and len(name) <= URL_MAX_CHARACTERS:
            raise BadQuestion("headers", f"{name[:40]!r} is no name of a header")
        if not value.isprintable() or len(value) > URL_MAX_CHARACTERS:
            raise BadQuestion("headers", f"the value of {name} is not one line of at most {URL_MAX_CHARACTERS} characters")
    return sent


def _parts(url: str) -> tuple[str, str, str]:
    """Scheme, host with its port, and target."""
    url = url.strip()
    if not url or len(url) > URL_MAX_CHARACTERS or any(ord(char) < 32 or char == "\x7f" for char in url):
        raise BadQuestion("url", f"an address on one line was expected, at most {URL_MAX_CHARACTERS} characters")
    if url.startswith("/"):
        return "https", "", _target(url)
    scheme, found, rest = url.partition("://")
    if not found:
        scheme, rest = "https", url
    scheme = scheme.lower()
    if scheme not in ("http", "https"):
        raise BadQuestion("url", f"{scheme[:20]!r} is not allowed: an address begins with https://, http:// or /")
    at = min((at for at in map(rest.find, "/?#") if at >= 0), default=len(rest))
    return scheme, _host(rest[:at]), _target(rest[at:])


def _host(authority: str) -> str:
    authority = authority.rpartition("@")[2]
    name = authority[: authority.find("]") + 1] if authority.startswith("[") else authority.partition(":")[0]
    port = authority[len(name) :]
    try:
        plain = name if name.isascii() else name.encode("idna").decode("ascii")
    except UnicodeError:
        plain = ""
    if not _HOST(plain) or not _PORT(port):
        raise BadQuestion("url", f"{authority[:80]!r} is no host; https://shop.example.org/launch has one")
    return plain + port


def _target(rest: str) -> str:
    rest = rest.partition("#")[0]
    rest = rest if rest.startswith("/") else "/" + rest
    # As browsers do: what no request line may hold goes as percent-encoded UTF-8.
    return "".join(char if char.isascii() and char not in ' "<>`' else quote(char) for char in rest)
