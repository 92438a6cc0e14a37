"""What CLDR says of a language, through Babel: its plural categories and the units of time.

Numbers on pages are always written with the digits 0 to 9: the edge fills them in that way, and the script must not change them.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import cache
from typing import Literal

from babel import Locale, UnknownLocaleError
from babel.numbers import format_decimal
from babel.plural import to_gettext
from babel.units import format_unit

CATEGORIES = ("zero", "one", "two", "few", "many", "other")
# Whole numbers that between them reach every category that whole numbers have in CLDR: hundreds, and round millions.
SAMPLES = (*range(1000), *(10**power for power in range(3, 10)), 2_000_000, 2_000_001, 1_000_100)

# Their nouns change after prepositions, which CLDR's patterns do not know: an abbreviation fits everywhere.
_INFLECTING = frozenset({"be", "bs", "cs", "et", "fi", "hr", "hu", "lt", "lv", "pl", "ru", "sk", "sl", "sr", "uk"})


_ALWAYS = [
    (re.compile(pattern), put)
    for pattern, put in (
        (r"\((\([^()]*\))\)", r"\1"),
        (r" && \(0 == 0\)|\(0 == 0\) && | \|\| \(0 != 0\)|\(0 != 0\) \? \d+ : ", ""),
        (r" \|\| \([^()]* && \(0 != 0\)\)| \|\| \(\([^()]*\) && \(0 != 0\)\)", ""),
    )
]


@cache
def locale_of(language: str) -> Locale:
    """CLDR's data for a language tag (`pt-BR`, `zh-Hant`). Raises ValueError for one that CLDR does not have."""
    try:
        return Locale.parse(language, sep="-")
    except (UnknownLocaleError, ValueError, TypeError) as error:
        raise ValueError(f"{language!r} is no language that CLDR knows: write it like sv, pt-BR or zh-Hant") from error


@cache
def categories(language: str) -> tuple[str, ...]:
    """The plural categories of whole numbers, in CLDR's order; these are a message's plural forms, in this order."""
    rule = locale_of(language).plural_form
    reached = {rule(number) for number in SAMPLES}
    return tuple(category for category in CATEGORIES if category in reached)


def category(language: str, number: int) -> str:
    """The plural category of a whole number."""
    return str(locale_of(language).plural_form(number))


@cache
def plural_header(language: str) -> str:
    """`Plural-Forms` of a gettext catalogue, made from CLDR's rule so that the forms are those of `categories`."""
    rule = locale_of(language).plural_form
    names = categories(language)
    # Babel also counts categories that only fractions have.
    every = [name for name in CATEGORIES if name in {*rule.tags, "other"}]
    numbers = {str(old): str(names.index(name) if name in names else len(names) - 1) for old, name in enumerate(every)}
    # "e" counts the digits of a compact number such as "1c6": none of ours is one, and gettext does not know it.
    expression = re.sub(r"\be\b", "0", to_gettext(rule).partition("plural=")[2].rstrip(";"))
    expression = re.sub(r"(?<=\? )\d+(?= :)|(?<= : )\d+(?=\)$)", lambda found: numbers[found.group()], expression)
    return f"nplurals={len(names)}; plural={_tidy(expression)};"


def _tidy(expression: str) -> str:
    """The same without what is always so, and without double parentheses, for people read it."""
    shorter = expression.replace("(!((0 >= 0 && 0 <= 5)))", "(0 != 0)").replace("(!((0 == 0)))", "(0 != 0)")
    while True:
        before = shorter
        for found, put in _ALWAYS:
            shorter = found.sub(put, shorter)
        if shorter == before:
            return shorter


@dataclass(frozen=True)
class Units:
    """Words for durations: unit (h, min, s) -> plural category -> pattern with {0}; `join` puts two of them together."""

    patterns: dict[str, dict[str, str]]
    join: str


@cache
def units(language: str) -> Units:
    """CLDR's units of time for every plural category of the language: in full words, or short where words inflect by case."""
    locale = locale_of(language)
    length: Literal["long", "short"] = "short" if locale.language in _INFLECTING else "long"
    found: dict[str, dict[str, str]] = {}
    for short, name in (("h", "hour"), ("min", "minute"), ("s", "second")):
        forms = {key: _pattern(locale, f"duration-{name}", length, sample(language, key)) for key in categories(language)}
        # "Two hours" in one word would lose the number in a range, "1 to 2 hours".
        usual = next(text for key, text in reversed(forms.items()) if "{0}" in text)
        found[short] = {key: text if "{0}" in text else usual for key, text in forms.items()}
    return Units(found, _join(locale))


def sample(language: str, key: str) -> int:
    """The smallest whole number of a plural category. Raises StopIteration for a category that the language lacks."""
    found: int = next(number for number in SAMPLES if category(language, number) == key)
    return found


def _join(locale: Locale) -> str:
    """How CLDR puts two units side by side, without a comma: "1 hour 20 minutes"."""
    narrow, short = (locale.list_patterns.get(style, {}) for style in ("unit-narrow", "unit-short"))
    found = [str(pattern) for pattern in (short.get("2"), narrow.get("2"), narrow.get("end")) if pattern]
    return next((pattern for pattern in found if not {",", "\u060c"} & set(pattern)), "{0} {1}")



def _pattern(locale: Locale, unit: str, length: Literal["long", "short"], number: int) -> str:
    """How CLDR writes so many of a unit, {0} for the number; some languages write no number for one and two."""
    return format_unit(number, unit, length, locale=locale).replace(format_decimal(number, locale=locale), "{0}")


def own_name(language: str) -> str:
    """The language's name in the language itself, for a menu."""
    return str(locale_of(language).get_display_name() or language)
