"""What moves on a page: texts, attributes and what is hidden, by the names that the templates give to their elements.

A page is rendered from this, and the same is sent as JSON to keep it current, so both always say the same.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping

from admin.console import chart, sentences, words
from admin.console.live_chart import Chart, chart_of
from admin.console.live_values import Live
from admin.history import History, Sample
from admin.limits import NAMES
from admin.operate.figures import no_show_share
from admin.operate.last_change import Change, undo_of
from admin.queue_view import MISSING, QueueView
from admin.watch import Look, Picture
from admin.words import N_, _, gettext

# What the button that opens is called, by the state that it ends.
_OPENS = {
    "paused": N_("Resume"),
    "recovering": N_("End recovery"),
    "draining": N_("Open"),
    "closed": N_("Open"),
    "maintenance": N_("Open"),
    "not_open": N_("Open now"),
    "prequeue": N_("Open now"),
}
# Fields of the controls that stand for one limit each.
FIELDS: Mapping[str, str] = {"rate": "admit_per_minute", "cap": "max_active", "inventory": "inventory"}
_SHAPES = ("open", "paused", "recovering", "missing", "unknown")


def freshness(live: Live, picture: Picture) -> bool:
    """Adds how old the numbers are, and returns whether they are stale."""
    age_s = picture.age_s
    stale = picture.is_stale
    live.text["age"] = _("live") if not stale else words.age(age_s)
    live.text["problem"] = picture.problem or _("The numbers are old, because Redis was not asked in time.")
    live.text["problem-age"] = words.age(age_s).capitalize() + "."
    live.hidden["stale"] = not stale
    return stale


def rows(live: Live, looks: Iterable[Look], history: History, now_s: float) -> None:
    """Adds the rows of the queue list and of the rail, by the queues' ids."""
    for look in looks:
        _row(live, look, history.of(look.queue.id, now_s), now_s)


def _row(live: Live, look: Look, samples: list[Sample], now_s: float) -> None:
    name, view = look.queue.id, look.view
    _status(live, f"{name}.", view)
    live.text[f"{name}.waiting"] = _count(view, "waiting")
    live.text[f"{name}.admitted"] = _count(view, "admitted_last_minute")
    live.text[f"{name}.inside"] = _count(view, "inside")
    live.text[f"{name}.called"] = _("+ %(count)s called") % {"count": words.number(view.called)} if view and view.called else ""
    live.text[f"{name}.wait"] = words.wait(view)[0] if view else words.UNKNOWN
    share = no_show_share(view) if view else None
    live.text[f"{name}.no-show"] = words.UNKNOWN if share is None else f"{100 * share:.0f} %"
    runs = view is not None and view.status != MISSING
    configured = look.queue.admit_per_minute
    live.text[f"{name}.rate"] = words.limit(view.limits.admit_per_minute) if view and runs else words.UNKNOWN
    live.text[f"{name}.configured"] = _("configured %(limit)s") % {"limit": words.limit(configured)}
    live.hidden[f"{name}.configured"] = bool(view and runs and view.limits.admit_per_minute == configured)
    cap = view.limits.max_active if view else None
    live.text[f"{name}.cap"] = "" if not runs else _("no cap") if cap is None else _("of %(cap)s") % {"cap": words.number(cap)}
    line = chart.draw(samples, lambda sample: sample.waiting, now_s)
    live.attr[f"{name}.spark"] = {"d": line.line}
    live.attr[f"{name}.spark-area"] = {"d": line.area}
    _fill(live, f"{name}.fill", view)


def queue(live: Live, look: Look, line: Chart, now_s: float) -> None:
    """Adds the page of one queue, without the sentences of its controls."""
    view = look.view
    _status(live, "", view)
    _numbers(live, view)
    chart_of(live, line, now_s, view.limits.admit_per_minute if view else None)
    notice = sentences.state(view) if view else ""
    live.text["notice"] = notice
    live.hidden["notice"] = not notice
    status = view.status if view else "unknown"
    live.hidden["pause"] = status in _OPENS
    live.hidden["resume"] = status not in _OPENS or _awaits_beacon(view)
    live.hidden["beacon"] = not _awaits_beacon(view)
    live.text["resume-word"] = gettext(_OPENS.get(status, N_("Resume")))


def _awaits_beacon(view: QueueView | None) -> bool:
    return view is not None and view.awaits == "beacon"


def controls(live: Live, view: QueueView | None, typed: Mapping[str, str], in_s: Callable[[float], str]) -> None:
    """Adds what the controls would do with what is typed into them. `in_s`: the clock's time so many seconds from now."""
    if view is None:
        for name in ("pause", "resume", "admit", *FIELDS):
            live.text[f"say-{name}"] = _("The state of the queue is not known yet.")
        for name in NAMES:
            live.text |= {f"limit-{name}": words.UNKNOWN, f"source-{name}": ""}
            live.attr[f"source-{name}"] = {"data-live": "no"}
            live.hidden[f"back-{name}"] = True
        for field in FIELDS:
            live.hidden[f"{field}-config"] = True
            live.text[f"{field}-config-word"] = ""
        return
    live.text["say-pause"] = sentences.pause(view)
    live.text["say-resume"] = sentences.resume(view)
    live.text["say-admit"] = sentences.admit(view, typed.get("count", ""))
    live.text["say-rate"] = sentences.rate(view, typed.get("rate", ""), in_s)
    live.text["say-cap"] = sentences.cap(view, typed.get("cap", ""))
    live.text["say-inventory"] = sentences.inventory(view, typed.get("inventory", ""))
    for name in NAMES:
        live.text[f"limit-{name}"] = words.limit(getattr(view.limits, name), name)
        live.text[f"source-{name}"] = sentences.source(view, name)
        live.attr[f"source-{name}"] = {"data-live": "yes" if name in view.limits.live else "no"}
        live.hidden[f"back-{name}"] = name not in view.limits.live
    for field, name in FIELDS.items():
        live.hidden[f"{field}-config"] = name not in view.limits.live
        live.text[f"{field}-config-word"] = sentences.back_to_config(view, name)


def last_change(live: Live, change: Change | None, now_s: float) -> None:
    """Adds what was done last, by whom, and whether it can be taken back."""
    live.hidden["last-change"] = change is None
    live.hidden["undo"] = change is None or undo_of(change) is None
    live.text["last-change-says"] = sentences.done(change, now_s) if change else ""
    live.attr["undo-id"] = {"value": str(change.id) if change else ""}


def shape(view: QueueView | None) -> str:
    """Pages of different shape have different elements: when it changes, the page has to be loaded again."""
    if view is None:
        return "unknown"
    return MISSING if view.status == MISSING else "running"


def _status(live: Live, prefix: str, view: QueueView | None) -> None:
    name = view.status if view else "unknown"
    live.text[f"{prefix}status-word"] = words.status(name)
    live.attr[f"{prefix}status"] = {"data-status": name}
    live.attr[f"{prefix}icon"] = {"href": f"#shape-{name if name in _SHAPES else 'other'}"}


def _count(view: QueueView | None, name: str) -> str:
    return words.number(getattr(view, name)) if view and view.status != MISSING else words.UNKNOWN


def _fill(live: Live, name: str, view: QueueView | None) -> None:
    """Adds the bar of people inside, and of those called, against the cap: widths in a box of 100."""
    cap = view.limits.max_active if view and view.status != MISSING else None
    inside = min(100.0, 100 * view.inside / cap) if view and cap else 0.0
    called = min(100.0 - inside, 100 * view.called / cap) if view and cap else 0.0
    live.attr[f"{name}-inside"] = {"width": f"{inside:.1f}", "data-full": "yes" if inside + called >= 100 else "no"}
    live.attr[f"{name}-called"] = {"x": f"{inside:.1f}", "width": f"{called:.1f}"}
    live.hidden[name] = cap is None


def _numbers(live: Live, view: QueueView | None) -> None:
    live.text["waiting"] = _count(view, "waiting")
    live.text["admitted"] = _count(view, "admitted_last_minute")
    live.text["inside"] = _count(view, "inside")
    _fill(live, "fill", view)
    if view is None:
        live.text |= {"wait": words.UNKNOWN, "wait-note": "", "waiting-note": "", "admitted-note": "", "inside-note": ""}
        return
    live.text["wait"], live.text["wait-note"] = words.wait(view)
    live.text["waiting-note"] = _("of %(length)s who got a place; %(called)s called") % {
        "length": words.number(view.arrived), "called": words.number(view.called),
    }  # fmt: skip
    rate = view.limits.admit_per_minute
    live.text["admitted-note"] = (
        _("no limit on the rate") if rate is None else _("of %(rate)s a minute") % {"rate": words.number(rate)}
    )
    cap = view.limits.max_active
    inside = _("no cap") if cap is None else _("of %(cap)s at most") % {"cap": words.number(cap)}
    units = words.number(view.inventory_left)
    left = "" if view.inventory_left is None else _("; %(units)s units left") % {"units": units}
    live.text["inside-note"] = inside + left
