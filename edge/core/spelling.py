"""The ways to write one address: what a path and a host mean, whatever spelling they came in (design.md, law 8).

Servers do not agree: some decode before they resolve dot segments and some after, some cut `;parameters` off first, some merge
`//`. A path is looked at in each of these ways. Rules are read in the same way, so that decoding never takes a path from a rule.
"""

from __future__ import annotations

import re
from urllib.parse import unquote_to_bytes

# What makes servers disagree, as it stands or percent-encoded. Other encoded characters mean the same everywhere.
_AMBIGUOUS = re.compile(r"//|/\.|\\|;|%(?:2[ef3]|5c|3[bf]|00)", re.IGNORECASE)
_ENCODED_DOT = re.compile("%2e", re.IGNORECASE)


def path_of(target: str) -> str:
    """The path of a request target as it was sent, without query and fragment; an absolute-form target loses its origin."""
    if not target.startswith("/"):
        _, found, rest = target.partition("://")
        if found:
            slash = min((at for at in map(rest.find, "/?#") if at >= 0), default=len(rest))
            target = rest[slash:]
            target = target if target.startswith("/") else "/" + target
    return target.partition("?")[0].partition("#")[0]


def normalise_host(host: str) -> str:
    """Lower case, without user, port and trailing dots; an IPv6 literal keeps its brackets."""
    host = host.strip().lower().rpartition("@")[2]
    if host.startswith("["):
        return host[: host.find("]") + 1] or host
    return host.partition(":")[0].rstrip(".")


def _decoded(path: str) -> str:
    # Bytes above 0x7f came as latin-1, one character each; a pattern of the configuration may hold any character.
    raw = path.encode("latin-1") if all(char <= "\xff" for char in path) else path.encode("utf-8", "replace")
    return unquote_to_bytes(raw).decode("utf-8", "replace")


def _resolve(path: str, *, merges: bool = True) -> str:
    """Without dot segments, a backslash read as a slash; with `merges` empty segments go first."""
    segments: list[str] = []
    first, *parts = path.replace("\\", "/").split("/")
    for part in parts:
        if part == "..":
            if segments:
                segments.pop()
        elif part != "." and (part or not merges):
            segments.append(part)
    is_folder = bool(parts) and parts[-1] in (("", ".", "..") if merges else (".", "..")) and bool(segments)
    return first + "/" + "/".join(segments) + ("/" if is_folder else "")


def _without_parameters(path: str) -> str:
    return "/".join(part.partition(";")[0] for part in path.split("/"))


def _until_the_end(decoded: str) -> str:
    """As a server reads a decoded path that takes a `?`, `#` or NUL in it for its end."""
    for mark in ("?", "#", "\0"):
        decoded = decoded.partition(mark)[0]
    return decoded


def _without_authority(path: str) -> str:
    """`//x/launch` as a server reads it that takes the target for a reference: `/launch` on the host x."""
    return "/" + path[2:].partition("/")[2] if path.startswith("//") else path


def spellings(path: str) -> tuple[str, ...]:
    """What an origin may take the path for, each once; all decoded. An ordinary path has one meaning only."""
    if not _AMBIGUOUS.search(path):
        return (path,) if path.isascii() and "%" not in path else (_decoded(path),)
    found = [_decoded(path)]
    slashed = path.replace("\\", "/")
    ways = (path, _without_parameters(path), _without_parameters(slashed), _without_authority(slashed))
    for raw in dict.fromkeys(ways):
        decoded = _decoded(raw)
        for merges in (True, False):
            found.append(_resolve(decoded, merges=merges))
            found.append(_resolve(_until_the_end(_without_parameters(decoded)), merges=merges))
            found.append(_decoded(_resolve(_ENCODED_DOT.sub(".", raw), merges=merges)))
    found += [_resolve(spelling) for spelling in found]
    return tuple(dict.fromkeys(found))


def meaning_of_pattern(pattern: str) -> str:
    """A rule's path as it is compared: decoded and resolved like the paths; its final `*` stays."""
    if pattern.isascii() and "%" not in pattern and not _AMBIGUOUS.search(pattern):
        return pattern
    path, star = (pattern[:-1], "*") if pattern.endswith("*") else (pattern, "")
    if not path.isascii():
        path = path.encode().decode("latin-1")
    return _resolve(_decoded(path)) + star
