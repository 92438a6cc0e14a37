"""What may stand in brand.json: every fault with its line, its field, and what to do about it."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from difflib import get_close_matches
from pathlib import Path
from typing import Any

from admin.publish.artwork import KINDS, NoPictureError, check_picture
from admin.publish.catalogue import available_languages
from admin.publish.errors import PublishError

SCHEMES = ("auto", "light", "dark")
PICTURE_MAX_BYTES = 12 * 1024
NAME_MAX_CHARS = 80
TEXT_MAX_CHARS = 600
FAMILIES_AT_MOST = 20
_LINK_MAX_CHARS = 500
_TYPES: dict[str, Any] = {
    "name": str, "extends": str, "scheme": str, "light": dict, "dark": dict, "radius_px": int, "font": list,
    "languages": list, "logo": str, "background": str, "support": str, "texts": dict,
}  # fmt: skip
_SAYS: dict[Any, str] = {str: "a text", dict: "an object", int: "a whole number", list: "a list"}
#: The keys of brand.json.
KEYS = tuple(_TYPES)
_LINKS = (
    re.compile(r"https://[\w.-]+\w(:\d+)?([/?#][^\s<>\"\\]*)?"), re.compile(r"mailto:[^\s<>\"\\@]+@[^\s<>\"\\@]+"),
    re.compile(r"tel:\+?[0-9().-]{3,}"),
)  # fmt: skip
_PLAIN = re.compile(r"[^\x00-\x1f\x7f\u202a-\u202e\u2066-\u2069\ud800-\udfff]*")

Fault = tuple[tuple[str, ...], str]  # the keys that lead to it, and what is wrong


def faults(file: Path, values: Mapping[str, Any], templates_dir: Path) -> Iterator[PublishError]:
    """Everything that is wrong with the values of one brand.json, the colours apart, in the order of its keys."""
    for key, value in values.items():
        for path, what in _faults(file, key, value, templates_dir):
            yield PublishError(str(file), line_of(file, *path), what, ".".join(path))


def line_of(file: Path, *path: str) -> int:
    """The line (from 1) of a JSON file on which the last of some keys stands, each looked for behind the one before; else 0."""
    text, at = file.read_text(encoding="utf-8"), 0
    for key in path:
        at = text.find(f'"{key}"', at)
        if at < 0:
            return 0
    return text.count("\n", 0, at) + 1


def _faults(file: Path, key: str, value: Any, templates_dir: Path) -> Iterator[Fault]:
    kind = _TYPES.get(key)
    if kind is None:
        yield (key,), f"unknown key {key[:60]!r}{_near(key, KEYS)}: one of {', '.join(KEYS)}"
    elif isinstance(value, bool) or type(value) is not kind:
        yield (key,), f"{key} must be {_SAYS[kind]}, not {type(value).__name__}"
    elif key in ("logo", "background"):
        if value and (what := _picture_fault(file.parent, value)):
            yield (key,), f"{key} {value[:60]!r}: {what}"
    elif key == "texts":
        yield from _texts(value, templates_dir)
    elif key == "languages":
        yield from (((key,), what) for language in value if (what := _language_fault(language, templates_dir)))
    elif key in _RULES and (what := _RULES[key](value)):
        yield (key,), what


def _near(word: str, known: Any) -> str:
    close = get_close_matches(word, known, 1)
    return f" (do you mean {close[0]!r}?)" if close else ""


def _line_fault(text: str, most: int) -> str:
    """What is wrong with a text of one line; empty when nothing is."""
    if not text.strip():
        return "must say something: it is empty"
    if len(text) > most:
        return f"has {len(text):,} characters: at most {most}"
    if not _PLAIN.fullmatch(text):
        return "holds line breaks, control or direction characters: type it in once more, as plain text"
    return _slot_fault(text)


def _slot_fault(text: str) -> str:
    """A text goes into every page as it stands: what looks like a slot there would be one."""
    double = next((braces for braces in ("{{", "}}") if braces in text), "")
    return double and f"holds {double!r}, which is for templates: a placeholder has one brace on each side, as {{queue_name}}"


def _name(value: str) -> str:
    what = _line_fault(value, NAME_MAX_CHARS)
    if what and ("{{" in value or "}}" in value):
        return "name holds '{{' or '}}', which are for templates; the name is plain words, at the top of every page"
    return what and f"name {what}; it stands at the top of every page"


def _font(value: list[Any]) -> str:
    if not 1 <= len(value) <= FAMILIES_AT_MOST:
        return f"font must name 1 to {FAMILIES_AT_MOST} families, the generic one last: [\"Georgia\", \"serif\"]"
    for family in value:
        if not isinstance(family, str) or not family.replace(" ", "").replace("-", "").isalnum() or len(family) > NAME_MAX_CHARS:
            return f"font {str(family)[:60]!r}: letters, digits, blanks and '-' only"
    return ""


def _language_fault(language: Any, templates_dir: Path) -> str:
    known = available_languages(templates_dir)
    if language in known:
        return ""
    named = str(language)[:60]
    return f"{named!r} is no language of the pages{_near(named, known)}: there is {', '.join(known)}"


def _support(value: str) -> str:
    if "{{" in value or "}}" in value:
        return f"support leads to one address for everybody: {value[:60]!r} holds '{{{{' or '}}}}', which are for templates"
    if not value or (len(value) <= _LINK_MAX_CHARS and any(kind.fullmatch(value) for kind in _LINKS)):
        return ""
    return f"support must start with https://, mailto: or tel: and lead somewhere, as mailto:help@example.com; not {value[:60]!r}"


def _texts(value: Mapping[str, Any], templates_dir: Path) -> Iterator[Fault]:
    for language, words in value.items():
        if what := _language_fault(language, templates_dir):
            yield ("texts", language), f"texts: {what}"
        elif not isinstance(words, dict):
            yield ("texts", language), f"texts.{language} must hold texts by key"
        else:
            for key, text in words.items():
                what = _line_fault(text, TEXT_MAX_CHARS) if isinstance(text, str) else "must be a text"
                if what:
                    yield ("texts", language, key), f"texts: {key[:60]!r} {what}; to have the usual words, leave the key out"


def _picture_fault(folder: Path, name: str) -> str:
    file, kind = folder / name, KINDS.get(Path(name).suffix.lower())
    if Path(name).name != name or kind is None:
        return f"must be a file beside brand.json: {', '.join(KINDS)}"
    if not file.is_file():
        return "there is no such file beside brand.json"
    if (size := file.stat().st_size) > PICTURE_MAX_BYTES:
        return f"{size:,} bytes: at most {PICTURE_MAX_BYTES:,}, for every visitor loads it; make it smaller or draw it as SVG"
    try:
        check_picture(kind, file.read_bytes())
    except NoPictureError as error:
        return str(error)
    return ""


_RULES: dict[str, Any] = {
    "name": _name, "font": _font, "support": _support,
    "scheme": lambda value: "" if value in SCHEMES else f"scheme {value[:60]!r}: one of {', '.join(SCHEMES)}",
    "radius_px": lambda value: "" if 0 <= value <= 40 else "radius_px must be from 0 to 40",
}  # fmt: skip
