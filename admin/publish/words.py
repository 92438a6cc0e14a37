"""Durations in the words of a language: as the page shows them at once, and as its script says them afterwards.

Words and grammar come from CLDR, how a range is said from the catalogues. In the page the number stands once, then the words of
every unit and plural form; the style sheet shows the one that fits (`admin/publish/plurals.py`).
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Literal

from markupsafe import Markup, escape

from admin.publish.catalogue import messages
from admin.publish.locales import categories, units
from admin.publish.plurals import plural_css

Unit = Literal["s", "min", "h"]
UNITS: tuple[Unit, ...] = ("s", "min", "h")


def pgettext(key: str, english: str) -> tuple[str, str]:
    """Marks a message for translation; it is looked up when a language is known."""
    return key, english


# "8 to 12" before one unit, as in "8 to 12 minutes".
RANGE = pgettext("range.numbers", "{low} to {high}")
# Two durations, as in "50 minutes to 1 hour 10 minutes".
RANGE_OF_DURATIONS = pgettext("range.durations", "{low} to {high}")


class Words:
    """The words of one language. Raises PublishError when its catalogue is missing or wrong."""

    def __init__(self, language: str, templates_dir: Path) -> None:
        self._language = language
        self._units = units(language)
        known = messages(templates_dir, language)
        self._range, self._range_of_durations = (
            known.get(key, (english, english))[1] for key, english in (RANGE, RANGE_OF_DURATIONS)
        )

    def duration(self, number: str, unit_slot: str, low: str = "", live: str = "") -> Markup:
        """A number (a slot), or the range from `low` to it, and the words of all units; `unit_slot` says which of them shows.

        The script keeps the element current under the name `live`.
        """
        shown = escape(self._range).replace("{low}", low).replace("{high}", number) if low else Markup(number)
        inner = Markup("").join(Markup('<span class="u-{}">{}</span>').format(unit, self._after(unit, shown)) for unit in UNITS)
        name = Markup(' data-v="{}"').format(live) if live else ""
        return Markup('<bdi class="d"{} data-n="{}" data-u="{}">{}{}</bdi>').format(
            name, Markup(number), Markup(unit_slot), shown if self._number_first else "", inner
        )


    def css(self) -> str:
        """The style rules that choose between plural forms; empty where all forms are alike."""
        alike = all(len(set(forms.values())) == 1 for unit, forms in self._units.patterns.items() if unit in UNITS)
        return "" if alike else plural_css(self._language)

    def live(self) -> str:
        """What the page's script needs, as JSON.

        units: unit -> plural category -> pattern with {0}; range: of two numbers, span: of two durations, both with {0} and {1};
        join: hours and minutes.
        """
        ranges = {"range": self._range, "span": self._range_of_durations}
        found = {
            "units": {unit: self._units.patterns[unit] for unit in UNITS},
            "join": self._units.join,
            **{key: text.replace("{low}", "{0}").replace("{high}", "{1}") for key, text in ranges.items()},
        }
        return json.dumps(found, ensure_ascii=False, separators=(",", ":"), sort_keys=True)

    @property
    def _number_first(self) -> bool:
        return all(pattern.startswith("{0}") for unit in UNITS for pattern in self._units.patterns[unit].values())

    def _after(self, unit: Unit, number: Markup) -> Markup:
        """The forms of a unit, each in an element of its own unless they are alike."""
        forms = self._units.patterns[unit]
        shown = "" if self._number_first else number
        texts = [escape(forms[name]).replace("{0}", shown) for name in categories(self._language)]
        if len(set(texts)) == 1:
            return texts[0]
        pairs = zip(categories(self._language), texts, strict=True)
        return Markup("").join(Markup('<span class="p-{}">{}</span>').format(name, text) for name, text in pairs)
