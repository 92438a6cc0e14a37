"""Countries by their names, from the CLDR as Babel carries it: what a form shows for the two letters of a configuration."""

from __future__ import annotations

from functools import cache

from babel import Locale

# Territories of the CLDR that are no country of a visitor: unknown, pseudo-locales, and groupings.
_NOT_COUNTRIES = frozenset(("ZZ", "XX", "XA", "XB", "EU", "EZ", "UN", "QO"))


@cache
def country_names(language: str) -> dict[str, str]:
    """By code, in the order of the names in this language (`en`, `ja`)."""
    names = Locale.parse(language).territories
    found = {code: str(name) for code, name in names.items() if len(code) == 2 and code.isalpha() and code not in _NOT_COUNTRIES}
    return dict(sorted(found.items(), key=lambda pair: pair[1].casefold()))


def country_name(code: str, language: str) -> str:
    """The name of a country; the code itself where it has none."""
    return country_names(language).get(code, code)
