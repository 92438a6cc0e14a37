"""Which of the languages on offer a visitor reads: `Accept-Language` by RFC 9110, lookup by RFC 4647.

The header's ranges are tried from the most wanted to the least. A range is shortened from its end until a language on offer
bears that very name (RFC 4647, section 3.4). Beyond the RFC, and only where a visitor would be glad of it:

- names that were replaced mean their successors: `iw` is `he`, `in` is `id`;
- Chinese is told apart by script: Taiwan, Hong Kong and Macao read `zh-Hant`, all others `zh-Hans`;
- a shortened range also finds a language that goes on from it: `pt` and `pt-PT` find `pt-BR`, but never another script.
"""

from __future__ import annotations

from collections.abc import Sequence

# A browser sends about a hundred characters. What comes after these is not read, so that a long header costs no more.
MAX_HEADER_CHARS = 512
MAX_RANGES = 32

# Replaced in the IANA registry of language subtags (RFC 5646, section 2.2.1, "Preferred-Value").
_REPLACED = {"iw": "he", "in": "id", "ji": "yi", "jw": "jv", "mo": "ro"}
_CHINESE_SCRIPTS = {"tw": "hant", "hk": "hant", "mo": "hant", "cn": "hans", "sg": "hans", "my": "hans"}
# Mandarin and Cantonese, by themselves or as `zh-cmn` and `zh-yue`.
_CHINESE = {"cmn": "hans", "yue": "hant"}

_Tag = tuple[str, ...]


def negotiate(header: str, offered: Sequence[str], default: str) -> str:
    """The language of `offered` that suits an Accept-Language header best, spelled as it is offered.

    `default` when nothing suits, when the header is empty or makes no sense, and for `*`; unless the header refuses it
    (`q=0`) and accepts another. Never raises. Ranges of equal weight count in the order in which they stand.
    """
    wanted, refused = _priorities(header)
    if not wanted and not refused:
        return default
    named = [tag for _, tag in wanted]
    # Only relatives of what is wanted are looked at closely, for a fresh sandbox pays for each; a refusal concerns all.
    kin = {*(tag[0] for tag in named), *_REPLACED, *_CHINESE}
    tags = {name: _tag(name) for name in offered if refused or name.partition("-")[0].lower() in kin}
    open_to = {name: tag for name, tag in tags.items() if not _is_refused(tag, refused, named)} if refused else tags
    for tag in named:
        if tag != ("*",) and (found := _lookup(tag, open_to)):
            return found
    if ("*",) in named and refused and _is_refused(_tag(default), refused, named):
        return next(iter(open_to), default)
    return default


def _priorities(header: str) -> tuple[list[tuple[int, _Tag]], list[_Tag]]:
    """The ranges by falling weight, and those with weight 0. What is malformed is left out."""
    wanted: list[tuple[int, _Tag]] = []
    refused: list[_Tag] = []
    text = header[:MAX_HEADER_CHARS]
    items = text.split(",")
    if len(header) > MAX_HEADER_CHARS:
        items.pop()  # may be cut in two
    for item in items[:MAX_RANGES]:
        name, *parameters = item.split(";")
        tag, weight = _range(name), _weight(parameters)
        if not tag or weight is None:
            continue
        if weight:
            wanted.append((weight, tag))
        else:
            refused.append(tag)
    wanted.sort(key=lambda pair: -pair[0])  # stable: the header's order among equals
    return wanted, refused


def _weight(parameters: list[str]) -> int | None:
    """The weight in thousandths (RFC 9110, section 12.4.2), 1000 if none is said, None if it is malformed."""
    if not parameters:
        return 1000
    name, equals, value = parameters[0].partition("=")
    whole, _, fraction = value.strip().partition(".")
    if len(parameters) > 1 or not equals or name.strip().lower() != "q" or whole not in ("0", "1"):
        return None
    if len(fraction) > 3 or (fraction and not (fraction.isascii() and fraction.isdigit())):
        return None
    weight = int(whole + fraction.ljust(3, "0"))
    return weight if weight <= 1000 else None


def _range(name: str) -> _Tag:
    """A language range, or nothing if it is malformed (RFC 4647, section 2.1); an extended one becomes basic (3.2)."""
    subtags = name.strip(" \t").split("-")
    if subtags[0] == "*":
        return ("*",)
    if not (len(subtags[0]) <= 8 and subtags[0].isascii() and subtags[0].isalpha()):
        return ()
    rest = [subtag for subtag in subtags[1:] if subtag != "*"]
    if not all(len(subtag) <= 8 and subtag.isascii() and subtag.isalnum() for subtag in rest):
        return ()
    return _tag("-".join([subtags[0], *rest]))


def _tag(name: str) -> _Tag:
    """A tag's subtags in lower case, under its present name, Chinese with its script where the tag tells it."""
    primary, *rest = name.lower().split("-")
    primary = _REPLACED.get(primary, primary)
    if primary == "zh" and rest and rest[0] in _CHINESE:
        primary, *rest = rest
    script = _CHINESE.get(primary, "")
    if script:
        primary = "zh"
    if primary == "zh" and not (rest and len(rest[0]) == 4 and rest[0].isalpha()):
        script = next((_CHINESE_SCRIPTS[subtag] for subtag in rest[:1] if subtag in _CHINESE_SCRIPTS), script)
        rest = [script, *rest] if script else rest
    return (primary, *rest)


def _is_refused(tag: _Tag, refused: list[_Tag], wanted: list[_Tag]) -> bool:
    """Whether the most telling range that covers a language has weight 0; `*` covers all and tells least."""
    return _covered(tag, refused) > _covered(tag, wanted)


def _covered(tag: _Tag, ranges: list[_Tag]) -> int:
    """Length of the longest range that covers the language; 0 for `*`, -1 for none."""
    return max((0 if r == ("*",) else len(r) for r in ranges if r == ("*",) or tag[: len(r)] == r), default=-1)


def _lookup(tag: _Tag, offered: dict[str, _Tag]) -> str:
    """The language that a range finds, or an empty text."""
    kin = {name: other for name, other in offered.items() if other[0] == tag[0]}
    script = _script(tag)
    while tag and kin:
        if found := next((name for name, other in kin.items() if other == tag), ""):
            return found
        if found := _going_on(tag, script, kin):
            return found
        tag = tag[:-1]
        while tag and len(tag[-1]) == 1:
            tag = tag[:-1]  # a single letter begins an extension and never ends a tag
    return ""


def _going_on(tag: _Tag, script: str, kin: dict[str, _Tag]) -> str:
    """The first language that is `tag` and more; in the script that was asked for, or else in the most read one."""
    longer = {_script(other): name for name, other in reversed(kin.items()) if other[: len(tag)] == tag}
    if script:
        return longer.get(script) or longer.get("", "")
    return longer.get("") or longer.get("hans") or next(reversed(longer.values()), "")


def _script(tag: _Tag) -> str:
    return tag[1] if len(tag) > 1 and len(tag[1]) == 4 and tag[1].isalpha() else ""
