r"""The ways to write one address: what a path and a host mean, whatever spelling they came in (design.md, law 8).

A path is looked at decoded once, and with `//`, `\` and dot segments resolved, with and without `;parameters`. Decoding never
takes a path away from a rule: rules are read in the same way.
"""

from __future__ import annotations

from urllib.parse import unquote_to_bytes


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


def _resolve(path: str) -> str:
    segments: list[str] = []
    parts = path.replace("\\", "/").split("/")
    for part in parts:
        if part == "..":
            if segments:
                segments.pop()
        elif part not in ("", "."):
            segments.append(part)
    is_folder = parts[-1] in ("", ".", "..") and bool(segments)
    return "/" + "/".join(segments) + ("/" if is_folder else "")


def _without_parameters(path: str) -> str:
    """As servers read it that cut `;parameters` off each segment, and everything after a decoded `?`, `#` or NUL."""
    for mark in ("?", "#", "\0"):
        path = path.partition(mark)[0]
    return "/".join(part.partition(";")[0] for part in path.replace("\\", "/").split("/"))


def spellings(path: str) -> tuple[str, ...]:
    """What an origin may take the path for, each once: as it stands, and resolved without and with parameters."""
    if path.isascii() and not any(mark in path for mark in ("%", "//", "/.", "\\", ";")):
        return (path,)
    decoded = _decoded(path)
    return tuple(dict.fromkeys((decoded, _resolve(_without_parameters(decoded)), _resolve(decoded))))


def meaning_of_pattern(pattern: str) -> str:
    """A rule's path as it is compared: decoded and resolved like the paths; its final `*` stays."""
    path, star = (pattern[:-1], "*") if pattern.endswith("*") else (pattern, "")
    if not path.isascii():
        path = path.encode().decode("latin-1")
    return _resolve(_decoded(path)) + star
