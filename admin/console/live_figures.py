"""The figures of a queue for its page: rows of three tables with bars, and a sentence over each."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from admin.console import words
from admin.console.live_values import Live
from admin.operate import figures
from admin.queue_view import QueueView
from admin.words import N_, _, gettext
from edge.core.figures import Figures, Times

# Ends of the ranges, in seconds, and their names; the last range has no end.
RANGES: Sequence[tuple[float, str]] = (
    (10, N_("under 10 s")), (60, N_("to 1 min")), (300, N_("to 5 min")), (900, N_("to 15 min")), (1800, N_("to 30 min")),
    (3600, N_("to 1 h")), (float("inf"), N_("longer")),
)  # fmt: skip
_EDGES = tuple(edge for edge, _name in RANGES[:-1])
_FUNNEL: Sequence[tuple[str, str, str]] = (
    ("arrived", N_("Got a place"), "all"),
    ("waiting", N_("Wait now"), "line"),
    ("called", N_("Called now"), "line"),
    ("admitted", N_("Came in"), "in"),
    ("inside", N_("Inside now"), "in"),
    ("completed", N_("Bought"), "in"),
    ("left_inside", N_("Left by themselves"), "gone"),
    ("idle_expired", N_("Ended: silent too long"), "gone"),
    ("checkout_expired", N_("Ended: payment took too long"), "gone"),
    ("pass_expired", N_("Ended: longest visit over"), "gone"),
    ("revoked", N_("Ended by the site or an operator"), "gone"),
    ("left_waiting", N_("Left the line"), "lost"),
    ("missed", N_("Turns not taken"), "lost"),
    ("lapsed", N_("Lost their place"), "lost"),
    ("absent", N_("Away when their turn came"), "lost"),
)


@dataclass(frozen=True)
class Row:
    """One row: `key` names its elements, `kind` the colour of its bar."""

    key: str
    label: str
    kind: str
    help: str = ""


def rows() -> Mapping[str, Sequence[Row]]:
    """The rows of the three tables, in the language of the request."""
    return {
        "funnel": [Row(key, gettext(label), kind) for key, label, kind in _FUNNEL],
        "waits": [Row(f"w{index}", gettext(label), "in") for index, (_edge, label) in enumerate(RANGES)],
        "gave_up": [Row(f"g{index}", gettext(label), "lost") for index, (_edge, label) in enumerate(RANGES)],
    }


def add(live: Live, view: QueueView | None, found: Figures | None) -> None:
    """Adds the rows and sentences. `found` None: not known now, shown as dashes."""
    told = found or Figures()
    known = view is not None and found is not None
    funnel = figures.funnel(view, told) if view else dict.fromkeys(figures.FUNNEL, 0)
    _bars(live, {key: funnel[key] for key, _label, _kind in _FUNNEL}, "", known)
    _bars(live, figures.by_range(told.waited, _EDGES), "w", known)
    gave_up = [figures.by_range(times, _EDGES) for times in (told.left, told.silent)]
    _bars(live, {index: sum(each[index] for each in gave_up) for index in gave_up[0]}, "g", known)
    live.text["funnel-says"] = _present(view) if view and known else words.UNKNOWN
    live.text["waits-says"] = _spread(told.waited)
    live.text["gave-up-says"] = _given_up(told)
    share = figures.no_show_share(view) if view else None
    live.text["no-show"] = words.UNKNOWN if share is None else f"{100 * share:.0f} %"


def _bars(live: Live, counts: Mapping[str, int] | Mapping[int, int], prefix: str, known: bool) -> None:
    most = max([1, *counts.values()])
    for key, count in counts.items():
        live.text[f"figure-{prefix}{key}"] = words.number(count) if known else words.UNKNOWN
        live.attr[f"bar-{prefix}{key}"] = {"width": f"{100 * count / most:.1f}"}


def _present(view: QueueView) -> str:
    share = figures.no_show_share(view)
    present = _("Of %(waiting)s who wait, about %(present)s are there.") % {
        "waiting": words.number(view.waiting), "present": words.number(view.present),
    }  # fmt: skip
    if share is None:
        return present
    return present + " " + _("No-shows: %(share)s of the turns.") % {"share": f"{100 * share:.0f} %"}


def _spread(times: Times) -> str:
    half, most = times.quantile_s(0.5), times.quantile_s(0.9)
    if half is None or most is None:
        return _("Nobody has come in yet.")
    return _("Half within %(half)s, nine of ten within %(most)s.") % {
        "half": words.duration(half), "most": words.duration(most),
    }  # fmt: skip


def _given_up(found: Figures) -> str:
    if not found.left.count + found.silent.count:
        return _("Nobody has given up yet.")
    return _("%(left)s said so; about %(silent)s fell silent (estimated).") % {
        "left": words.number(found.left.count), "silent": words.number(found.silent.count),
    }  # fmt: skip
