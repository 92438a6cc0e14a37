"""Paths and hosts in every spelling: whatever an ordinary server makes of a path is among its spellings."""

from __future__ import annotations

import posixpath
from collections.abc import Callable
from urllib.parse import unquote

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from edge.core.spelling import meaning_of_pattern, normalise_host, path_of, spellings


@pytest.mark.parametrize(
    ("target", "path"),
    [
        ("/a/b?c=/d", "/a/b"),
        ("/a#b?c", "/a"),
        ("http://shop.example.org/launch/?x", "/launch/"),
        ("HTTPS://SHOP:443/launch", "/launch"),
        ("http://shop", "/"),
        ("http://shop?x=/launch", "/"),
        ("http://shop#/launch", "/"),
        ("a+b://shop/launch", "/launch"),
        ("*", "*"),
        ("/", "/"),
        ("", ""),
        ("/http://x/y", "/http://x/y"),
        ("/a%3Fb", "/a%3Fb"),
    ],
)  # fmt: skip
def test_the_path_of_a_target(target: str, path: str) -> None:
    assert path_of(target) == path


@pytest.mark.parametrize(
    ("host", "normal"),
    [
        ("shop.example.org", "shop.example.org"),
        ("LOCALHOST:8080", "localhost"),
        ("LOCALHOST:8080.", "localhost"),
        ("localhost.:8080", "localhost"),
        ("Shop.Example.ORG..", "shop.example.org"),
        (" shop ", "shop"),
        ("user@shop:80", "shop"),
        ("[::1]:8080", "[::1]"),
        ("[::1", "[::1"),
        ("", ""),
        (":80", ""),
    ],
)  # fmt: skip
def test_a_host_in_any_form(host: str, normal: str) -> None:
    assert normalise_host(host) == normal


@pytest.mark.parametrize(
    "path",
    [
        "/%6caunch/", "/%6C%61unch/", "//launch/", "///launch/", "/x/../launch/", "/x/%2e%2e/launch/", "/x/.%2E/launch/",
        "/./launch/", "/%2e/launch/", "/launch/./", "/x%2f..%2flaunch/", "\\launch/", "/\\launch/", "/x\\..\\launch/",
        "/%5claunch/", "/launch%2f", "/;a=1/launch/", "/launch;a=1/", "/x/..;/launch/", "/x/..;a=b/launch/",
        "/launch;x%2f..%2fy/", "/a%2fb/../launch/", "/a/../launch//../", "/..//launch/", "/../../launch/", "//evil/launch/",
        "/launch/%00", "/launch/?", "/launch/%3fx", "/launch/%23x", "/%6c%61%75%6e%63%68/", "/launch/x/..",
        "/launch%3b/x/..", "/l%61unch//", "/x/y/../../launch/",
    ],
)  # fmt: skip
def test_ways_round_a_rule_are_among_the_spellings(path: str) -> None:
    assert {"/launch/", "/launch"} & set(spellings(path_of(path)))


@pytest.mark.parametrize(
    ("path", "only"),
    [
        ("/launch/", "/launch/"),
        ("/caf%C3%A9/", "/café/"),
        ("/caf\u00c3\u00a9/", "/café/"),  # the bytes themselves, which travel as latin-1
        ("/a%20b", "/a b"),
        ("/launch/a.b", "/launch/a.b"),
        ("/%E3%82%B5/", "/サ/"),
        ("/%ff", "/\ufffd"),
        ("/100%", "/100%"),
        ("/a%zz", "/a%zz"),
        ("/%2561", "/%61"),
    ],
)  # fmt: skip
def test_an_ordinary_path_has_one_meaning(path: str, only: str) -> None:
    assert spellings(path) == (only,)


@pytest.mark.parametrize(
    ("pattern", "meaning"),
    [
        ("/launch/*", "/launch/*"), ("/launch*", "/launch*"), ("/*", "/*"), ("/", "/"), ("/%6caunch/*", "/launch/*"),
        ("/a//b/../*", "/a/*"), ("/サ/*", "/サ/*"), ("/caf%C3%A9", "/café"), ("/café", "/café"), ("/a/./b", "/a/b"),
    ],
)  # fmt: skip
def test_a_rule_is_read_like_a_path(pattern: str, meaning: str) -> None:
    assert meaning_of_pattern(pattern) == meaning


# --- servers, as they are documented to read a path; written without a look at the code above ---------------------------


def _segments(path: str, keep_empty: bool) -> str:
    done: list[str] = []
    parts = path.split("/")[1:]
    for number, part in enumerate(parts):
        is_last = number == len(parts) - 1
        if part == "..":
            del done[-1:]
            done += [""] if is_last else []
        elif part == ".":
            done += [""] if is_last else []
        elif part or keep_empty or is_last:
            done.append(part)
    return "/" + "/".join(done)


def nginx(path: str) -> str:
    """Decodes, merges slashes, resolves."""
    return _segments(unquote(path, errors="replace"), keep_empty=False)


def whatwg(path: str) -> str:
    """`new URL(request.url, base)`: an authority after `//`, backslashes as `/`, `%2e` as a dot, no merging; decoded then."""
    path = path.replace("\\", "/")
    if path.startswith("//"):
        path = "/" + path[2:].partition("/")[2]
    for dot in ("%2e", "%2E"):
        path = path.replace(dot, ".")
    return unquote(_segments(path, keep_empty=True), errors="replace")


def tomcat(path: str) -> str:
    """Cuts parameters off, decodes, reads backslashes as `/`, merges, resolves."""
    path = "/".join(part.split(";")[0] for part in path.split("/"))
    return _segments(unquote(path, errors="replace").replace("\\", "/"), keep_empty=False)


def rails(path: str) -> str:
    """Collapses slashes, decodes, leaves dot segments to whoever reads files."""
    decoded = unquote(path, errors="replace")
    return posixpath.normpath(decoded) + ("/" if decoded.endswith("/") else "")


def go_clean(path: str) -> str:
    """path.Clean of the decoded path, a final slash kept."""
    return nginx(path)


SERVERS: list[Callable[[str], str]] = [nginx, whatwg, tomcat, rails, go_clean]

_PIECE = st.sampled_from(
    ["/", "/", "//", "\\", "%2f", "%5c", ".", "..", "%2e", "%2E.", ";", ";x=1", "%3b", "launch", "%6caunch", "l", "x", "y",
     "%00", "%3f", "%23", "%25", "é", "%C3%A9"]
)  # fmt: skip


@given(st.lists(_PIECE, min_size=1, max_size=9))
@example(["a%2fb", "/", "..", "/", "launch", "/"])
@example(["launch", ";x%2f..%2fy", "/"])
def test_what_any_server_makes_of_a_path_is_held_by_the_rule_for_it(pieces: list[str]) -> None:
    path = "/" + "".join(pieces)
    found = spellings(path.encode().decode("latin-1"))
    for server in SERVERS:
        read = server(path)
        if read.rstrip("/") == "/launch" or read.startswith("/launch/"):
            assert any(each == "/launch" or each.startswith("/launch/") for each in found), (server.__name__, read, found)


@given(st.text(max_size=60))
def test_no_path_is_an_error(text: str) -> None:
    wire = text.encode("utf-8", "replace").decode("latin-1")
    assert all(isinstance(each, str) for each in spellings(path_of(wire)))
    assert len(spellings(path_of("/" + wire))) >= 1
    normalise_host(wire)
    meaning_of_pattern("/" + text)
