"""What a control will do, said before it does it. The same text stands on the page and is kept current while one types."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from admin.console.words import LIMIT_WORDS, duration, full_stop, limit, number, people, status
from admin.limits import BOUNDS, NAMES
from admin.operate.last_change import Change
from admin.operations import ADMIT_AT_MOST
from admin.queue_view import MISSING, QueueView
from admin.words import N_, _, gettext
from edge.core.moments import moment_text
from edge.core.states import QUEUE_STATES

_DEEDS: Mapping[str, str] = {
    "queue.pause": N_("It was paused"),
    "queue.pause_alone": N_("It was paused by itself"),
    "queue.resume": N_("It was opened"),
    "queue.open": N_("It was opened"),
    "queue.open_alone": N_("It was opened by itself"),
    "queue.drain": N_("It was set to drain"),
    "queue.close": N_("It was closed"),
    "queue.maintenance": N_("It was put into maintenance"),
    "queue.reset": N_("It was reset"),
    "queue.start": N_("It was started"),
}
# What the states mean that have no sentence of their own, as `edge.core.states` says it; a test holds the two together.
MEANINGS: Mapping[str, str] = {
    "maintenance": N_("as closed, with a page of its own"),
    "not_open": N_("before prequeue_at, or before opens_at without one"),
    "prequeue": N_("from prequeue_at until it opens"),
    "sold_out": N_("inventory is sold: places are kept, an operator may add units"),
    "draining": N_("no new places, those in line are called"),
}
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
        return _("A whole number from %(low)s to %(high)s; empty for no limit.") % {"low": number(low), "high": number(high)}
    return value


def _digits(text: str) -> int | None:
    plain = text.strip().replace(",", "").replace(" ", "")
    return int(plain) if plain.isascii() and plain.isdigit() and len(plain) <= 12 else None


def opened(view: QueueView) -> str:
    """What became of the step that opens."""
    if view.awaits == "beacon":
        beacon = {"beacon": view.queue.draw_beacon}
        return _("The pre-queue is over. The queue opens once the value of %(beacon)s is entered.") % beacon
    if view.awaits == "draw":
        return _("The pre-queue is over. The next request draws the order and opens the queue.")
    return _("Open again.")


def concerned(view: QueueView) -> str:
    """What a step concerns: this queue, or all queues of its group."""
    if not view.queue.group:
        return _("this queue")
    return _("all queues of the group %(group)s: %(queues)s") % {"group": view.queue.group, "queues": ", ".join(view.members)}


def pause(view: QueueView) -> str:
    """What pause does."""
    return _("Stops calling people. %(waiting)s keep their places; %(inside)s inside stay inside.") % {
        "waiting": people(view.waiting), "inside": number(view.inside),
    }  # fmt: skip


def resume(view: QueueView) -> str:
    """What resume does."""
    if view.paused_alone and view.mode != "paused":
        return _("Calls people of this queue again; the group's other queues have gone on all the time.")
    if view.status == "recovering":
        return _(
            "Ends the recovery at once. Passes from before the loss that did not come back yet are then not counted,"
            " so more than the cap may be inside for a while."
        )
    if view.status == "closed" and view.mode != "closed":
        return _("Its closes_at is past: it stays closed until a later one is published.")
    if view.status == "prequeue" and view.queue.draw_beacon is not None:
        beacon = {"beacon": view.queue.draw_beacon}
        return _("Ends the pre-queue now. It opens once the value of %(beacon)s is entered.") % beacon
    if view.limits.manual:
        waiting = {"waiting": number(view.waiting)}
        return _("Opens the queue again. Nobody is called by itself, because it is manual; %(waiting)s wait.") % waiting
    rate = view.limits.admit_per_minute
    values = {"rate": number(rate), "waiting": number(view.waiting)}
    if rate is None:
        return _("Calls people again, as room allows. %(waiting)s wait.") % {"waiting": values["waiting"]}
    return _("Calls people again, at %(rate)s a minute. %(waiting)s wait.") % values


def admit(view: QueueView, text: str) -> str:
    """What a batch of `text` people does now."""
    if view.paused_alone and view.mode in ("open", "draining"):
        return _("Calls people of the group's other queues: this one is paused by itself.")
    if view.status not in CALLING:
        now = {"status": status(view.status).lower()}
        return _("The queue is %(status)s: nobody can be called before it is open.") % now
    count = parse_count(text)
    if count is None:
        return _("A whole number from 1 to %(most)s.") % {"most": number(ADMIT_AT_MOST)}
    if view.waiting == 0:
        return _("Nobody waits, so nobody would be called.")
    room = view.slots_left
    called = min(count, view.waiting, count if room is None else room)
    if called == 0:
        if view.inventory_left == 0:
            return _("Calls nobody now: no units are left.")
        return _("Calls nobody now: all %(slots)s slots are taken.") % {"slots": limit(view.limits.max_active)}
    values = {"called": number(called), "waiting": number(view.waiting), "time": duration(view.queue.claim_within_s)}
    if called == view.waiting:
        says = _("Calls all %(waiting)s waiting; each has %(time)s to come in.") % values
    else:
        says = _("Calls the next %(called)s of %(waiting)s waiting; each has %(time)s to come in.") % values
    if room is not None and room < min(count, view.waiting):
        says += " " + _("Only %(slots)s slots are free.") % {"slots": number(room)}
    rate = view.limits.admit_per_minute
    if rate is not None and rate < called:
        says += " " + _("They come in at %(rate)s a minute.") % {"rate": number(rate)}
    return says


def rate(view: QueueView, text: str, in_s: Callable[[float], str]) -> str:
    """What the rate `text` does. `in_s`: the clock's time so many seconds from now."""
    new = parse_limit("admit_per_minute", text)
    if isinstance(new, str):
        return new
    now = view.limits.admit_per_minute
    if new == now:
        values = {"rate": _rate(now).capitalize(), "source": source(view, "admit_per_minute")}
        return _("%(rate)s is in force now, %(source)s.") % values
    if new is None:
        caps = [view.limits.max_active, view.limits.inventory]
        if view.limits.burst is not None:
            return _("The burst would mean nothing without a rate. Change both under All limits.")
        if caps == [None, None] and not view.limits.manual and not view.limits.always_queue:
            return _("Not possible: the queue would have no limit at all.")
        return _("From %(now)s to no limit on the rate, at once. Caps and inventory still hold.") % {"now": _rate(now)}
    if new == 0:
        return _("From %(now)s to 0: nobody comes in any more. Pause does that too, and tells visitors.") % {"now": _rate(now)}
    says = _("From %(now)s to %(new)s, at once.") % {"now": _rate(now), "new": _rate(new)}
    if not view.waiting:
        return says
    values = {"waiting": number(view.waiting), "at": in_s(60 * view.waiting / new)}
    if not now:
        return says + " " + _("At this rate the line of %(waiting)s empties at %(at)s.") % values
    values["else"] = in_s(60 * view.waiting / now)
    return says + " " + _("At this rate the line of %(waiting)s empties at %(at)s, not %(else)s.") % values


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
        return "; ".join(_from_to(name, change.before.get(name), change.after[name]) for name in names)
    if change.action == "queue.message":
        return _("Message shown") if change.after.get("message") else _("Message taken away")
    return gettext(_DEEDS.get(change.action, change.action))


def _from_to(name: str, old: int | None, new: int | None) -> str:
    return f"{gettext(LIMIT_WORDS[name])}: {limit(old, name)} → {limit(new, name)}"


def back_to_config(view: QueueView, name: str = "admit_per_minute") -> str:
    """What the button back to the configuration says."""
    value = getattr(view.queue, name)
    return _("Back to %(limit)s") % {"limit": limit(value, name)}


def source(view: QueueView, name: str) -> str:
    """Where a limit in force comes from."""
    return _("set by an operator") if name in view.limits.live else _("from the configuration")


def reset(view: QueueView) -> list[str]:
    """What a reset does, one sentence each."""
    values = {"waiting": people(view.waiting), "inside": people(view.inside), "called": number(view.called)}
    return [
        _("%(waiting)s waiting lose their places; whoever comes back joins the new line at its end.")
        % {"waiting": values["waiting"]},
        _("%(inside)s inside and %(called)s called lose their passes.")
        % {"inside": values["inside"], "called": values["called"]},
        _("Counters go back to zero, sold units too. Limits stay as they are."),
        _("It is in force at once everywhere, and nothing brings the old line back."),
    ]


def changed(before: QueueView, after: QueueView) -> str:
    """What a change of limits changed."""
    parts = []
    for name in NAMES:
        old, new = getattr(before.limits, name), getattr(after.limits, name)
        was_live, is_live = name in before.limits.live, name in after.limits.live
        if old != new:
            parts.append(_from_to(name, old, new))
        elif was_live != is_live:
            values = {"name": gettext(LIMIT_WORDS[name]), "limit": limit(new, name), "source": source(after, name)}
            parts.append(_("%(name)s: %(limit)s, now %(source)s") % values)
    return full_stop("; ".join(parts)) if parts else _("Nothing changed: these limits were in force already.")


def state(view: QueueView) -> str:
    """What is going on, when it is not simply open; otherwise empty."""
    if view.status == MISSING:
        return _("Redis has no state for this queue.")
    if view.status == "paused" and view.paused_alone and view.mode != "paused":
        return _("Paused by itself: nobody of this queue is called, newcomers line up, turns are kept. Other queues go on.")
    if view.status == "paused":
        return _("Paused: nobody is called, newcomers still get a place. Clocks of the called stand still.")
    if view.status == "recovering":
        return _(
            "Redis lost this queue's state, or was set back. Old places are coming back in their order; nobody new is"
            " admitted until passes that may still exist have run out. A pause from before is lost: pause again if need be."
        )
    if view.status == "closed" and view.mode != "closed":
        return _("Closed since its closes_at: nobody gets a place or is called. Publish a later one, or none, to go on.")
    if view.status == "closed":
        return _("Closed by an operator: nobody gets a place or is called. Places are kept.")
    if view.awaits == "beacon":
        beacon = {"beacon": view.queue.draw_beacon}
        return _("Its time has come, and it opens once an operator has entered the value of %(beacon)s.") % beacon
    if view.awaits == "draw":
        return _("Its time has come: the next request draws the order and opens it.")
    if view.status in ("not_open", "prequeue") and view.opens_at_ms is not None:
        values = {"status": status(view.status), "at": moment_text(view.opens_at_ms)}
        return _("%(status)s: it opens at %(at)s, or now by the button.") % values
    if view.status != "open":
        meaning = MEANINGS.get(view.status, N_("a state that this console does not know"))
        return full_stop(f"{status(view.status)}: {gettext(meaning)}")
    if view.config_version is not None and view.queue.config_version > view.config_version:
        return _("Configuration %(new)s is published, %(old)s is in force. The next visitor's request brings it in.") % {
            "new": view.queue.config_version, "old": view.config_version,
        }  # fmt: skip
    return ""


def _rate(value: int | None) -> str:
    return _("no limit") if value is None else _("%(rate)s a minute") % {"rate": number(value)}
