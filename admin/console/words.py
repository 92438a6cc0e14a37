"""Numbers and times in the words of the console."""

from __future__ import annotations

from collections.abc import Sequence

from admin.queue_view import QueueView
from admin.words import N_, _, gettext, ngettext

UNKNOWN = "–"
STATUS_WORDS = {
    "open": N_("Open"),
    "paused": N_("Paused"),
    "recovering": N_("Recovering"),
    "missing": N_("Missing"),
    "not_open": N_("Not open"),
    "prequeue": N_("Pre-queue"),
    "draining": N_("Draining"),
    "closed": N_("Closed"),
    "sold_out": N_("Sold out"),
    "maintenance": N_("Maintenance"),
    "unknown": N_("Not known"),
}
LIMIT_WORDS = {
    "admit_per_minute": N_("Rate"),
    "burst": N_("Burst"),
    "max_active": N_("Inside, at most"),
    "inventory": N_("Inventory"),
}
LIMIT_UNITS = {
    "admit_per_minute": N_("a minute"),
    "burst": N_("admissions"),
    "max_active": N_("people"),
    "inventory": N_("units"),
}


def sentence(text: str) -> str:
    """A text of an error as a sentence."""
    return text[:1].upper() + text[1:] + ("" if text.endswith((".", "。")) else ".")


def full_stop(text: str) -> str:
    """A text of the console with the end of a sentence."""
    return _("%(text)s.") % {"text": text}


def number(value: int | None) -> str:
    """1204 as `1,204`; None as a dash."""
    return UNKNOWN if value is None else f"{value:,}"


def limit(value: int | None, name: str = "") -> str:
    """A limit: its number, or what holds without one."""
    if value is None:
        return _("a sixth of the rate") if name == "burst" else _("no limit")
    return f"{value:,}"


def people(count: int, word: str = "person") -> str:
    """`1 person`, `2 people`; other words take an s."""
    if word == "person":
        return ngettext("%(count)s person", "%(count)s people", count) % {"count": number(count)}
    return f"{count:,} {word if count == 1 else f'{word}s'}"


def status(name: str) -> str:
    """The word for a status."""
    return gettext(STATUS_WORDS[name]) if name in STATUS_WORDS else name.replace("_", " ").capitalize()


def duration(seconds: float) -> str:
    """`45 s`, `12 min`, `2 h 5 min`: the largest unit that keeps it honest."""
    if seconds < 120:
        return _("%(count)s s") % {"count": int(seconds)}
    minutes = round(seconds / 60)
    if minutes < 120:
        return _("%(count)s min") % {"count": minutes}
    hours = {"hours": number(minutes // 60), "minutes": minutes % 60}
    return _("%(hours)s h %(minutes)s min") % hours if minutes % 60 else _("%(hours)s h") % {"hours": hours["hours"]}


def age(seconds: float | None) -> str:
    """How old the numbers are."""
    return _("no numbers yet") if seconds is None else _("last update %(age)s ago") % {"age": duration(seconds)}


def listed(parts: Sequence[str]) -> str:
    """`a`, `a and b`, `a, b and c`."""
    return parts[0] if len(parts) == 1 else f"{', '.join(parts[:-1])} and {parts[-1]}"


def wait(view: QueueView) -> tuple[str, str]:
    """What a newcomer would wait now, and what that is computed from: the rate is the best case, the last minute what is."""
    if view.status not in ("open", "draining"):
        return UNKNOWN, _("nobody is called while it is %(status)s") % {"status": status(view.status).lower()}
    if view.waiting == 0:
        return _("none"), _("nobody waits")
    if view.limits.manual:
        return UNKNOWN, _("people are called by hand")
    rate, done = view.limits.admit_per_minute, view.admitted_last_minute
    if not rate and not done:
        return UNKNOWN, _("nobody came in during the last minute")
    best_min = view.waiting / max(rate or done, done)
    if not done:
        note = _("at %(rate)s a minute; nobody came in during the last minute") % {"rate": number(rate)}
        return _("%(wait)s or more") % {"wait": _minutes(max(1.0, best_min))}, note
    likely_min = view.waiting / done
    if _minutes(best_min) == _minutes(likely_min):
        return _minutes(likely_min), _("at %(rate)s a minute") % {"rate": number(done)}
    span = _("%(best)s to %(likely)s") % {"best": _plain_minutes(best_min), "likely": _minutes(likely_min)}
    return span, _("at %(rate)s a minute; now %(now)s") % {"rate": number(rate), "now": number(done)}


def _minutes(minutes: float) -> str:
    return _("under 1 min") if minutes < 1 else _("%(count)s min") % {"count": number(round(minutes))}


def _plain_minutes(minutes: float) -> str:
    return "1" if minutes < 1 else number(round(minutes))
