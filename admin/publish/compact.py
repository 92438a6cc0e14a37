"""The same page to every browser, and at far less cost to a sandbox that lives for one request.

Letters beyond ASCII become character references in text and attributes, and escapes in scripts and style sheets: one letter of
another kind makes Python hold, copy and encode the whole page at several times the cost.
"""

from __future__ import annotations

import re

_RAW = re.compile(r"(<(script|style)\b[^>]*>)(.*?)(</\2>)", re.DOTALL | re.IGNORECASE)
# Between two sentences; a line break there is a blank for a browser.
_SENTENCES = re.compile(r"([。！？」])((?:</[a-z]+>)*)\n(?=<span|<bdi)")
_OTHERS = re.compile(r"[^\x00-\x7f]")


def compact(page: str) -> str:
    """The page in ASCII."""
    if page.isascii():
        return page
    parts, at = [], 0
    for found in _RAW.finditer(page):
        parts.append(_OTHERS.sub(_reference, page[at : found.start()]))
        escape = _of_script if found[2].lower() == "script" else _of_style
        parts.append(f"{found[1]}{_OTHERS.sub(escape, found[3])}{found[4]}")
        at = found.end()
    parts.append(_OTHERS.sub(_reference, page[at:]))
    return "".join(parts)


def closed_up(page: str, language: str) -> str:
    """The page without blanks between sentences in Chinese and Japanese, whose full stop brings its own space along."""
    return _SENTENCES.sub(r"\1\2", page) if language.split("-")[0] in ("ja", "zh") else page


def _reference(letter: re.Match[str]) -> str:
    return f"&#{ord(letter[0])};"


def _of_script(letter: re.Match[str]) -> str:
    units = letter[0].encode("utf-16-be")
    return "".join(f"\\u{units[at]:02x}{units[at + 1]:02x}" for at in range(0, len(units), 2))


def _of_style(letter: re.Match[str]) -> str:
    return f"\\{ord(letter[0]):x} "
