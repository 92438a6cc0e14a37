"""What a control will do, said before it does it. The same text stands on the page and is kept current while one types."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from admin.console.words import LIMIT_WORDS, duration, limit, number, people, status
from admin.limits import BOUNDS, NAMES
from admin.operate.last_change import Change
from admin.operations import ADMIT_AT_MOST
from admin.queue_view import MISSING, QueueView
from admin.words import N_, _, gettext
from edge.core.moments import moment_text
from edge.core.states import QUEUE_STATES

_DEEDS: Mapping[str, str] = {
    "queue.pause": N_("Paused"), "queue.resume": N_("Opened"), "queue.open": N_("Opened"), "queue.drain": N_("Set to drain"),
    "queue.close": N_("Closed"), "queue.maintenance": N_("Put into maintenance"), "queue.reset": N_("Reset"),
    "queue.start": N_("Started"),
}  # fmt: skip
CALLING = tuple(state.name for state in QUEUE_STATES.values() if state.calls)


def parse_count(text: str) -> int | None:
    """A batch size as typed: 1 to ADMIT_AT_MOST, thousands marked or not; None if it is none."""
    count = _digits(text)
    return count if count is not None and 1 <= count <= ADMIT_AT_MOST else None


def parse_limit(name: str, text: str) -> int | str | None:
    """A limit as typed: a number, None for an empty field. Returns a sentence when it cannot be."""
    if not text.strip():
        return None
    low, high = BOUNDS[name]
    value = _digits(text)
    if value is None or not low <= value <= high:
        return f"A whole number from {low:,} to {high:,}; empty for no limit."
    return value


def _digits(text: str) -> int | None:
    plain = text.strip().replace(",", "").replace(" ", "")
    return int(plain) if plain.isascii() and plain.isdigit() and len(plain) <= 12 else None


def opened(view: QueueView) -> str:
    """What became of the step that opens."""
    if view.awaits == "beacon":
        return f"The pre-queue is over. The queue opens once the value of {view.queue.draw_beacon} is entered."
    if view.awaits == "draw":
        return "The pre-queue is over. The next request draws the order and opens the queue."
    return "Open again."


def pause(view: QueueView) -> str:
    """What pause does."""
    return f"Stops calling people. {people(view.waiting)} keep their places; {number(view.inside)} inside stay inside."


def resume(view: QueueView) -> str:
    """What resume does."""
    if view.paused_alone and view.mode != "paused":
        return "Calls people of this queue again; the group's other queues have gone on all the time."
    if view.status == "recovering":
        return (
            "Ends the recovery at once. Passes from before the loss that did not come back yet are then not counted,"
            " so more than the cap may be inside for a while."
        )
    if view.status == "closed" and view.mode != "closed":
        return "Its closes_at is past: it stays closed until a later one is published."
    if view.status == "prequeue" and view.queue.draw_beacon is not None:
        return f"Ends the pre-queue now. It opens once the value of {view.queue.draw_beacon} is entered."
    if view.limits.manual:
        return f"Opens the queue again. Nobody is called by itself, because it is manual; {number(view.waiting)} wait."
    rate = view.limits.admit_per_minute
    pace = "as room allows" if rate is None else f"at {rate:,} a minute"
    return f"Calls people again, {pace}. {number(view.waiting)} wait."


def admit(view: QueueView, text: str) -> str:
    """What a batch of `text` people does now."""
    if view.paused_alone and view.mode in ("open", "draining"):
        return "Calls people of the group's other queues: this one is paused by itself."
    if view.status not in CALLING:
        return f"The queue is {status(view.status).lower()}: nobody can be called before it is open."
    count = parse_count(text)
    if count is None:
        return f"A whole number from 1 to {ADMIT_AT_MOST:,}."
    if view.waiting == 0:
        return "Nobody waits, so nobody would be called."
    room = view.slots_left
    called = min(count, view.waiting, count if room is None else room)
    if called == 0:
        why = "no units are left" if view.inventory_left == 0 else f"all {limit(view.limits.max_active)} slots are taken"
        return f"Calls nobody now: {why}."
    who = f"all {view.waiting:,}" if called == view.waiting else f"the next {called:,} of {view.waiting:,}"
    held = f" Only {room:,} slots are free." if room is not None and room < min(count, view.waiting) else ""
    rate = view.limits.admit_per_minute
    pace = "" if rate is None or rate >= called else f" They come in at {rate:,} a minute."
    return f"Calls {who} waiting; each has {duration(view.queue.claim_within_s)} to come in.{held}{pace}"


def rate(view: QueueView, text: str, in_s: Callable[[float], str]) -> str:
    """What the rate `text` does. `in_s`: the clock's time so many seconds from now."""
    new = parse_limit("admit_per_minute", text)
    if isinstance(new, str):
        return new
    now = view.limits.admit_per_minute
    if new == now:
        return f"{_rate(now).capitalize()} is in force now, {source(view, 'admit_per_minute')}."
    if new is None:
        caps = [view.limits.max_active, view.limits.inventory]
        if view.limits.burst is not None:
            return "The burst would mean nothing without a rate. Change both under All limits."
        if caps == [None, None] and not view.limits.manual and not view.limits.always_queue:
            return "Not possible: the queue would have no limit at all."
        return f"From {_rate(now)} to no limit on the rate, at once. Caps and inventory still hold."
    if new == 0:
        return f"From {_rate(now)} to 0: nobody comes in any more. Pause does that too, and tells visitors."
    line = f" At this rate the line of {number(view.waiting)} empties at {in_s(60 * view.waiting / new)}" if view.waiting else ""
    before = f", not {in_s(60 * view.waiting / now)}" if line and now else ""
    return f"From {_rate(now)} to {_rate(new)}, at once.{line}{before}{'.' if line else ''}"


def cap(view: QueueView, text: str) -> str:
    """What it does that `text` people may be inside."""
    new = parse_limit("max_active", text)
    if isinstance(new, str):
        return new
    now, held = view.limits.max_active, view.inside + view.called
    if new == now:
        return _("%(cap)s is in force now, %(source)s.") % {"cap": limit(now).capitalize(), "source": source(view, "max_active")}
    if new is None:
        return _("From %(now)s to no cap, at once: people come in as the rate allows.") % {"now": limit(now)}
    values = {"now": limit(now), "new": number(new), "held": number(held), "more": number(abs(new - held))}
    if new < held:
        return _("From %(now)s to %(new)s. %(held)s are inside or called: nobody is called before %(more)s have gone.") % values
    return _("From %(now)s to %(new)s, at once: %(more)s more can be called.") % values


def inventory(view: QueueView, text: str) -> str:
    """What it does that `text` units can be sold."""
    new = parse_limit("inventory", text)
    if isinstance(new, str):
        return new
    now, sold = view.limits.inventory, view.counts.get("sold", 0)
    held = view.inside + view.called
    if new == now:
        return _("%(units)s in force now, %(source)s.") % {"units": limit(now).capitalize(), "source": source(view, "inventory")}
    if new is None:
        return _("From %(now)s to no inventory, at once: nothing is sold out any more.") % {"now": limit(now)}
    values = {"now": limit(now), "new": number(new), "sold": number(sold), "left": number(max(0, new - sold - held))}
    if new <= sold:
        return _("From %(now)s to %(new)s. %(sold)s are sold: the queue is sold out at once.") % values
    return _("From %(now)s to %(new)s, at once. %(sold)s are sold; %(left)s more people can be called.") % values


def done(change: Change, now_s: float) -> str:
    """What was done last: by whom, and how long ago."""
    ago = duration(max(0.0, now_s - change.at_ms / 1000))
    return _("%(what)s, by %(who)s %(ago)s ago.") % {"what": _what(change), "who": change.who, "ago": ago}


def _what(change: Change) -> str:
    if change.action == "queue.limits":
        names = [name for name in NAMES if name in change.after]
        return "; ".join(
            f"{LIMIT_WORDS[name]}: {limit(change.before.get(name), name)} → {limit(change.after[name], name)}" for name in names
        )
    if change.action == "queue.message":
        return _("Message shown") if change.after.get("message") else _("Message taken away")
    return gettext(_DEEDS.get(change.action, change.action))


def back_to_config(view: QueueView, name: str = "admit_per_minute") -> str:
    """What the button back to the configuration says."""
    value = getattr(view.queue, name)
    return f"Back to {limit(value, name)}"


def source(view: QueueView, name: str) -> str:
    """Where a limit in force comes from."""
    return "set by an operator" if name in view.limits.live else "from the configuration"


def reset(view: QueueView) -> list[str]:
    """What a reset does, one sentence each."""
    return [
        f"{people(view.waiting)} waiting lose their places; whoever comes back joins the new line at its end.",
        f"{people(view.inside)} inside and {number(view.called)} called lose their passes.",
        "Counters go back to zero, sold units too. Limits stay as they are.",
        "It is in force at once everywhere, and nothing brings the old line back.",
    ]


def changed(before: QueueView, after: QueueView) -> str:
    """What a change of limits changed."""
    parts = []
    for name in NAMES:
        old, new = getattr(before.limits, name), getattr(after.limits, name)
        was_live, is_live = name in before.limits.live, name in after.limits.live
        if old != new:
            parts.append(f"{LIMIT_WORDS[name]}: {limit(old, name)} → {limit(new, name)}")
        elif was_live != is_live:
            parts.append(f"{LIMIT_WORDS[name]}: {limit(new, name)}, now {source(after, name)}")
    return "; ".join(parts) + "." if parts else "Nothing changed: these limits were in force already."


def state(view: QueueView) -> str:
    """What is going on, when it is not simply open; otherwise empty."""
    if view.status == MISSING:
        return "Redis has no state for this queue."
    if view.status == "paused" and view.paused_alone and view.mode != "paused":
        return "Paused by itself: nobody of this queue is called, newcomers line up, turns are kept. Other queues go on."
    if view.status == "paused":
        return "Paused: nobody is called, newcomers still get a place. Clocks of the called stand still."
    if view.status == "recovering":
        return (
            "Redis lost this queue's state, or was set back. Old places are coming back in their order; nobody new is"
            " admitted until passes that may still exist have run out. A pause from before is lost: pause again if need be."
        )
    if view.status == "closed" and view.mode != "closed":
        return "Closed since its closes_at: nobody gets a place or is called. Publish a later one, or none, to go on."
    if view.status == "closed":
        return "Closed by an operator: nobody gets a place or is called. Places are kept."
    if view.awaits == "beacon":
        return f"Its time has come, and it opens once an operator has entered the value of {view.queue.draw_beacon}."
    if view.awaits == "draw":
        return "Its time has come: the next request draws the order and opens it."
    if view.status in ("not_open", "prequeue") and view.opens_at_ms is not None:
        return f"{status(view.status)}: it opens at {moment_text(view.opens_at_ms)}, or now by the button."
    if view.status != "open":
        known = QUEUE_STATES.get(view.status)
        meaning = known.meaning.removeprefix("an operator's: ") if known else "a state that this console does not know"
        return f"{status(view.status)}: {meaning}."
    if view.config_version is not None and view.queue.config_version > view.config_version:
        return (
            f"Configuration {view.queue.config_version} is published, {view.config_version} is in force."
            " The next visitor's request brings it in."
        )
    return ""


def _rate(value: int | None) -> str:
    return "no limit" if value is None else f"{value:,} a minute"
