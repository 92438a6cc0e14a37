"""Numbers and times in the words of the console."""

from __future__ import annotations

from collections.abc import Sequence

from admin.queue_view import QueueView

UNKNOWN = "–"
STATUS_WORDS = {
    "open": "Open",
    "paused": "Paused",
    "recovering": "Recovering",
    "missing": "Missing",
    "not_open": "Not open",
    "prequeue": "Pre-queue",
    "draining": "Draining",
    "closed": "Closed",
    "sold_out": "Sold out",
    "maintenance": "Maintenance",
    "unknown": "Not known",
}
LIMIT_WORDS = {
    "admit_per_minute": "Rate",
    "burst": "Burst",
    "max_active": "Inside, at most",
    "inventory": "Inventory",
}
LIMIT_UNITS = {
    "admit_per_minute": "a minute",
    "burst": "admissions",
    "max_active": "people",
    "inventory": "units",
}


def sentence(text: str) -> str:
    """A text of an error as a sentence."""
    return text[:1].upper() + text[1:] + ("" if text.endswith((".", "。")) else ".")


def number(value: int | None) -> str:
    """1204 as `1,204`; None as a dash."""
    return UNKNOWN if value is None else f"{value:,}"


def limit(value: int | None, name: str = "") -> str:
    """A limit: its number, or what holds without one."""
    if value is None:
        return "a sixth of the rate" if name == "burst" else "no limit"
    return f"{value:,}"


def people(count: int, word: str = "person") -> str:
    """`1 person`, `2 people`; other words take an s."""
    plural = "people" if word == "person" else f"{word}s"
    return f"{count:,} {word if count == 1 else plural}"


def status(name: str) -> str:
    """The word for a status."""
    return STATUS_WORDS.get(name, name.replace("_", " ").capitalize())


def duration(seconds: float) -> str:
    """`45 s`, `12 min`, `2 h 5 min`: the largest unit that keeps it honest."""
    if seconds < 120:
        return f"{int(seconds)} s"
    minutes = round(seconds / 60)
    if minutes < 120:
        return f"{minutes} min"
    return f"{minutes // 60:,} h" + (f" {minutes % 60} min" if minutes % 60 else "")


def age(seconds: float | None) -> str:
    """How old the numbers are."""
    return "no numbers yet" if seconds is None else f"last update {duration(seconds)} ago"


def listed(parts: Sequence[str]) -> str:
    """`a`, `a and b`, `a, b and c`."""
    return parts[0] if len(parts) == 1 else f"{', '.join(parts[:-1])} and {parts[-1]}"


def wait(view: QueueView) -> tuple[str, str]:
    """What a newcomer would wait now, and what that is computed from: the rate is the best case, the last minute what is."""
    if view.status not in ("open", "draining"):
        return UNKNOWN, f"nobody is called while it is {status(view.status).lower()}"
    if view.waiting == 0:
        return "none", "nobody waits"
    if view.limits.manual:
        return UNKNOWN, "people are called by hand"
    rate, done = view.limits.admit_per_minute, view.admitted_last_minute
    if not rate and not done:
        return UNKNOWN, "nobody came in during the last minute"
    best_min = view.waiting / max(rate or done, done)
    if not done:
        return f"{_minutes(best_min)} or more", f"at {number(rate)} a minute; nobody came in during the last minute"
    likely_min = view.waiting / done
    if _minutes(best_min) == _minutes(likely_min):
        return _minutes(likely_min), f"at {number(done)} a minute"
    return f"{_minutes(best_min, unit='')} to {_minutes(likely_min)}", f"at {number(rate)} a minute; now {number(done)}"


def _minutes(minutes: float, unit: str = " min") -> str:
    if minutes < 1:
        return f"1{unit}" if not unit else "under 1 min"
    return f"{round(minutes):,}{unit}"
