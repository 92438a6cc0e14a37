"""Durations in the words of a language: as the page shows them at once, and as its script says them afterwards."""

from __future__ import annotations

import json
from typing import Any, Literal

Unit = Literal["s", "min", "h"]
UNITS: tuple[Unit, ...] = ("s", "min", "h")

_SHORT: dict[str, dict[Unit, str]] = {
    "en": {"s": "{0} sec", "min": "{0} min", "h": "{0} hr"},
    "ja": {"s": "{0} 秒", "min": "{0} 分", "h": "{0} 時間"},
}
_LIVE: dict[str, dict[str, Any]] = {
    "en": {
        "units": {
            "s": {"one": "{0} second", "other": "{0} seconds"},
            "min": {"one": "{0} minute", "other": "{0} minutes"},
            "h": {"one": "{0} hour", "other": "{0} hours"},
        },
        "range": "{0} to {1}",
        "join": "{0} {1}",
    },
    "ja": {
        "units": {"s": {"other": "{0} 秒"}, "min": {"other": "{0} 分"}, "h": {"other": "{0} 時間"}},
        "range": "{0}〜{1}",
        "join": "{0} {1}",
    },
}


class Words:
    """The words of one language."""

    def __init__(self, language: str) -> None:
        self._short = _SHORT.get(language, _SHORT["en"])
        self._live = _LIVE.get(language, _LIVE["en"])

    def short(self, unit: Unit, number: str) -> str:
        """A number of units in the short form, which fits every number: "12 min"."""
        return self._short[unit].format(number)

    def span(self, low: str, high: str) -> str:
        """From one number to another."""
        return f"{low}–{high}"

    def live(self) -> str:
        """What the page's script needs, as JSON.

        units: patterns by plural category; range: of two numbers or durations; join: hours and minutes.
        """
        return json.dumps(self._live, ensure_ascii=False, separators=(",", ":"), sort_keys=True)
