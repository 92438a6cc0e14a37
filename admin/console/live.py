"""What moves on a page: texts, attributes and what is hidden, by the names that the templates give to their elements.

A page is rendered from this, and the same is sent as JSON to keep it current, so both always say the same.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any

from admin.console import chart, sentences, words
from admin.history import History, Sample
from admin.limits import NAMES
from admin.queue_view import MISSING, QueueView
from admin.watch import Look, Picture

# What the button that opens is called, by the state that it ends.
_OPENS = {
    "paused": "Resume",
    "recovering": "End recovery",
    "draining": "Open",
    "closed": "Open",
    "maintenance": "Open",
    "not_open": "Open now",
    "prequeue": "Open now",
}
_SHAPES = ("open", "paused", "recovering", "missing", "unknown")


@dataclass
class Live:
    """Values by element name."""

    text: dict[str, str] = field(default_factory=dict)
    attr: dict[str, dict[str, str]] = field(default_factory=dict)
    hidden: dict[str, bool] = field(default_factory=dict)

    def as_json(self) -> dict[str, Any]:
        """For the script of the page."""
        return {"text": self.text, "attr": self.attr, "hidden": self.hidden}


def freshness(live: Live, picture: Picture) -> bool:
    """Adds how old the numbers are, and returns whether they are stale."""
    age_s = picture.age_s
    stale = picture.is_stale
    live.text["age"] = "live" if not stale else words.age(age_s)
    live.text["problem"] = picture.problem or "The numbers are old, because Redis was not asked in time."
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
    live.text[f"{name}.called"] = f"+ {view.called:,} called" if view and view.called else ""
    runs = view is not None and view.status != MISSING
    configured = look.queue.admit_per_minute
    live.text[f"{name}.rate"] = words.limit(view.limits.admit_per_minute) if view and runs else words.UNKNOWN
    live.text[f"{name}.configured"] = f"configured {words.limit(configured)}"
    live.hidden[f"{name}.configured"] = bool(view and runs and view.limits.admit_per_minute == configured)
    cap = view.limits.max_active if view else None
    live.text[f"{name}.cap"] = "" if not runs else "no cap" if cap is None else f"of {cap:,}"
    line = chart.draw(samples, lambda sample: sample.waiting, now_s)
    live.attr[f"{name}.spark"] = {"d": line.line}
    live.attr[f"{name}.spark-area"] = {"d": line.area}
    _fill(live, f"{name}.fill", view)


def queue(live: Live, look: Look, samples: list[Sample], now_s: float) -> None:
    """Adds the page of one queue, without the sentences of its controls."""
    view = look.view
    _status(live, "", view)
    _numbers(live, view)
    _chart(live, samples, now_s, view.limits.admit_per_minute if view else None)
    notice = sentences.state(view) if view else ""
    live.text["notice"] = notice
    live.hidden["notice"] = not notice
    status = view.status if view else "unknown"
    live.hidden["pause"] = status in _OPENS
    live.hidden["resume"] = status not in _OPENS or _awaits_beacon(view)
    live.hidden["beacon"] = not _awaits_beacon(view)
    live.text["resume-word"] = _OPENS.get(status, "Resume")


def _awaits_beacon(view: QueueView | None) -> bool:
    return view is not None and view.awaits == "beacon"


def controls(live: Live, view: QueueView | None, typed: Mapping[str, str]) -> None:
    """Adds what the controls would do with what is typed into them."""
    if view is None:
        for name in ("say-pause", "say-resume", "say-admit", "say-rate"):
            live.text[name] = "The state of the queue is not known yet."
        for name in NAMES:
            live.text |= {f"limit-{name}": words.UNKNOWN, f"source-{name}": ""}
            live.attr[f"source-{name}"] = {"data-live": "no"}
        live.hidden["rate-config"] = True
        live.text["rate-config-word"] = ""
        return
    live.text["say-pause"] = sentences.pause(view)
    live.text["say-resume"] = sentences.resume(view)
    live.text["say-admit"] = sentences.admit(view, typed.get("count", ""))
    live.text["say-rate"] = sentences.rate(view, typed.get("rate", ""))
    for name in NAMES:
        live.text[f"limit-{name}"] = words.limit(getattr(view.limits, name), name)
        live.text[f"source-{name}"] = sentences.source(view, name)
        live.attr[f"source-{name}"] = {"data-live": "yes" if name in view.limits.live else "no"}
    live.hidden["rate-config"] = "admit_per_minute" not in view.limits.live
    live.text["rate-config-word"] = sentences.back_to_config(view)


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
    live.text["waiting-note"] = f"of {view.length:,} who got a place; {view.called:,} called"
    rate = view.limits.admit_per_minute
    live.text["admitted-note"] = "no limit on the rate" if rate is None else f"of {rate:,} a minute"
    cap = view.limits.max_active
    inside = "no cap" if cap is None else f"of {cap:,} at most"
    left = "" if view.inventory_left is None else f"; {view.inventory_left:,} units left"
    live.text["inside-note"] = inside + left


def _chart(live: Live, samples: list[Sample], now_s: float, rate: int | None) -> None:
    # The limit is drawn as long as it does not press the line itself flat.
    busiest = max((sample.admitted_last_minute for sample in samples), default=0)
    shown = rate if rate and rate <= 20 * max(5, busiest) else None
    depth = chart.draw(samples, lambda sample: sample.waiting, now_s)
    admitted = chart.draw(samples, lambda sample: sample.admitted_last_minute, now_s, at_least=shown or 0)
    for name, line in (("depth", depth), ("admitted-line", admitted)):
        live.attr[name] = {"d": line.line}
        live.attr[f"{name}-area"] = {"d": line.area}
        live.text[f"{name}-top"] = f"{line.top:,}"
    height = chart.height_of(shown or 0, admitted.top)
    live.attr["limit-line"] = {"d": f"M0 {height:g} H{chart.WIDTH}" if shown else ""}
    # Above its line, or below it where there is no room above.
    live.attr["limit-label"] = {"y": f"{100 * height / chart.HEIGHT:g}%", "dy": "13" if height < chart.HEIGHT / 4 else "-4"}
    live.text["limit-label"] = f"limit {shown:,}" if shown else ""
    live.hidden["no-history"] = bool(samples)
