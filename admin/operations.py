"""What an operator can do to queues. The console and the API both do it through here, so it means the same in both."""

from __future__ import annotations

import asyncio
import hashlib
import json
import secrets
from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from admin import limits, steps
from admin.configuration import ConfigurationSource
from admin.limits import BadValue, Value
from admin.queue_view import MISSING, QueueView, view
from admin.steps import Action
from admin.store import Store
from edge.core import calls, commands
from edge.core.calls import Answer, Call
from edge.core.model import Queue

ADMIT_AT_MOST = 100_000
ADMIT_STEP = 500
# Longer than a batch of ADMIT_AT_MOST takes over a slow line, shorter than a proxy waits.
ADMIT_BUDGET_S = 30.0
START_FIRST = (
    "Redis has no state for this queue. If it has never run, start it (POST /queues/{id}/start); if it has, leave it:"
    " the next visitor's request begins its recovery."
)


class UnknownQueue(Exception):
    """The published configuration has no queue with this id."""

    def __init__(self, queue_id: str, problem: str) -> None:
        super().__init__(problem or f"no published queue has the id {queue_id[:60]!r}")


class TooManySteps(Exception):
    """The queue remembers so many steps of the last hour that it takes no more: a script has run wild, most likely."""

    def __init__(self) -> None:
        super().__init__("this queue got too many steps within the hour; it takes more when the oldest are an hour old")


class KeyReused(Exception):
    """The same `Idempotency-Key` came before with something else to do."""

    def __init__(self) -> None:
        super().__init__(
            "this Idempotency-Key came before with another body, so nothing was done: repeat that one as it was, or give"
            " each new request a key of its own"
        )


class Refused(Exception):
    """The queue is not in a state for this. The text says why and what to do."""


class Overtaken(Exception):
    """Limits are not what the operator saw who wants to change them. `names`: which; `now`: the queue as it is."""

    def __init__(self, names: Sequence[str], seen: Mapping[str, int | None], now: QueueView) -> None:
        values = ", ".join(f"{name} is {getattr(now.limits, name)} now" for name in names)
        super().__init__(f"somebody else changed the limits meanwhile: {values}")
        self.names = tuple(names)
        self.seen = dict(seen)
        self.now = now


@dataclass(frozen=True)
class Admitted:
    """What became of a batch. `note` says why it was less than asked, or is empty."""

    asked: int
    called: int
    note: str
    queue: QueueView


@dataclass(frozen=True)
class LimitsChange:
    """Limits before and after."""

    before: QueueView
    after: QueueView


def new_request_id() -> str:
    """A request id that nobody else has."""
    return secrets.token_hex(16)


def request_id_of(queue_id: str, action: str, idempotency_key: str, asked: Any = None) -> str:
    """The request id that a key stands for, for this action on this queue.

    `asked`: what the body asks for, as JSON values; the id then refuses another (KeyReused). None: nothing, or not compared.
    """
    name = hashlib.sha256(f"{queue_id}\n{action}\n{idempotency_key}".encode()).hexdigest()[:32]
    if asked is None:
        return name
    return f"{name}.{hashlib.sha256(json.dumps(asked, sort_keys=True).encode()).hexdigest()[:16]}"


def _id_of_step(request_id: str, number: int) -> str:
    name, dot, asked = request_id.partition(".")
    return f"{name}:{number}{dot}{asked}"


class Operations:
    """Every method raises StoreUnavailable; those with a queue's id raise UnknownQueue."""

    def __init__(self, source: ConfigurationSource, store: Store) -> None:
        self._source = source
        self._store = store
        # Two changes of one queue's limits are checked one after the other. Grows with the configured queues only.
        self._changing: defaultdict[str, asyncio.Lock] = defaultdict(asyncio.Lock)

    async def configured(self, queue_id: str) -> Queue:
        """The published configuration of a queue."""
        published = await self._source.published()
        queue = published.config.queue(queue_id)
        if queue is None:
            raise UnknownQueue(queue_id, published.problem)
        return queue

    async def look(self, queues: Sequence[Queue]) -> list[QueueView]:
        """Reads the state of these queues now."""
        config = (await self._source.published()).config
        readings = await self._store.read([queue.scope for queue in queues], [_random() for _ in queues])
        members = [tuple(each.id for each in config.scope(queue.scope)) for queue in queues]
        return [view(*each) for each in zip(queues, readings, members, strict=True)]

    async def queue(self, queue_id: str) -> QueueView:
        """Reads the state of one queue now."""
        return (await self.look([await self.configured(queue_id)]))[0]

    async def control(self, queue_id: str, action: Action, request_id: str, text: str = "") -> QueueView:
        """An operator's step; `text`: of a message or the value of a beacon.

        Raises Refused when there is no state, or the step means nothing now; KeyReused.
        """
        queue = await self.configured(queue_id)
        answer = await self._store.run(_step(queue, action, request_id, text))
        now = await self.queue(queue_id)
        if answer.verdict == "refused":
            raise Refused(steps.refusal(action, now))
        _refuse(answer, now)
        return replace(now, is_alone=action in steps.ALONE)

    async def start(self, queue_id: str) -> QueueView:
        """Opens a queue that has never run. A queue that runs is left as it is."""
        queue = await self.configured(queue_id)
        await self._store.run(commands.configure(queue, _random(), new=True))
        return await self.queue(queue_id)

    async def admit(
        self, queue_id: str, count: int, request_id: str, *, over_rate: bool = False, lane: str | None = None
    ) -> Admitted:
        """Calls the next `count` (1 to ADMIT_AT_MOST), in steps, at most those who wait and for whom there is room.

        `over_rate`: they come in whatever the rate; `lane`: of this lane only. The same `request_id` calls nobody twice.
        Raises Refused while nobody is called, BadValue for a lane that the queue does not have, KeyReused.
        """
        queue = await self.configured(queue_id)
        line = None if lane is None else _line(queue, lane)
        called, stopped = 0, ""
        clock = asyncio.get_running_loop().time
        until_s = clock() + ADMIT_BUDGET_S
        while called < count:
            step = _id_of_step(request_id, called)
            size = min(ADMIT_STEP, count - called)
            call = commands.admit(queue.scope, size, step, _random(), over_rate=over_rate, line=line)
            answer = await self._store.run(call)
            if not called and answer.verdict != "ok":
                _refuse(answer, await self.queue(queue_id))
            if answer.verdict != "ok":
                stopped = f"the queue is {answer.verdict} now"
                break
            if answer.number(0) == 0:
                break
            called += answer.number(0)
            if called < count and clock() > until_s:
                stopped = f"it took longer than {ADMIT_BUDGET_S:g} s; ask again for the rest"
                break
        now = replace(await self.queue(queue_id), is_alone=lane is not None)
        return Admitted(count, called, "" if called >= count else stopped or _shortfall(now, lane), now)

    async def revoke(self, queue_id: str, who: str, lane: str | None = None) -> QueueView:
        """Ends the visit of one person inside. `who`: a visitor's id (`sub` of Stanchion-Pass), or the number of the place.

        Raises Refused when no such visit is inside, BadValue for what can be neither and for an unknown lane.
        """
        queue = await self.configured(queue_id)
        now = await self.queue(queue_id)
        if now.epoch is None:
            raise Refused(START_FIRST)
        line, position, visitor = await self._place_of(queue, who.strip(), lane)
        member = calls.member(position, line) if position else f"v{visitor}"
        if await self._store.plain(commands.read_inside(queue.scope, member)) is None:
            raise Refused("no visit of that place or visitor is inside now: it has ended, or never began")
        await self._store.run(commands.end(queue.scope, now.epoch, position, visitor, "revoked", _random(), line=line))
        return await self.queue(queue_id)

    async def _place_of(self, queue: Queue, who: str, lane: str | None) -> tuple[int, int, str]:
        """Line, position and visitor; position 0 for a pass that was taken over after a loss."""
        if who.isascii() and who.isdigit() and len(who) <= 12 and int(who) > 0:
            return (queue.line if lane is None else _line(queue, lane)), int(who), ""
        if not who or len(who) > 100 or not who.isprintable() or " " in who:
            raise BadValue("visit", "must be the number of a place or the id of a visitor")
        for command in commands.find_visitor(queue.scope, who):
            found = await self._store.plain(command)
            if found and str(found)[:1].isdigit():
                return *calls.read_member(str(found)), who
        return queue.line, 0, who

    async def change_limits(
        self, queue_id: str, changes: Mapping[str, Value], request_id: str, seen: Mapping[str, int | None] | None = None
    ) -> LimitsChange:
        """Sets live limits; the same `request_id` sets them once. `seen`: what whoever asks believes to be in force.

        Raises BadValue for a combination that means nothing, Refused when there is no state, Overtaken when `seen` is not so,
        KeyReused.
        """
        queue = await self.configured(queue_id)
        async with self._changing[queue.scope]:
            return await self._change_limits(queue_id, changes, request_id, seen or {})

    async def _change_limits(
        self, queue_id: str, changes: Mapping[str, Value], request_id: str, seen: Mapping[str, int | None]
    ) -> LimitsChange:
        before = await self.queue(queue_id)
        if before.status == MISSING:
            raise Refused(START_FIRST)
        if before.config_version is not None and before.queue.config_version > before.config_version:
            # "config" means what is published, also before any edge has passed it on.
            await self._store.run(commands.configure(before.queue, _random()))
            before = await self.queue(queue_id)
        _check_seen(before, changes, seen)
        limits.after(before.limits, before.queue, changes)
        values = limits.as_command(changes)
        answer = await self._store.run(commands.set_limits(before.queue.scope, values, _random(), request_id=request_id))
        now = await self.queue(queue_id)
        _refuse(answer, now)
        return LimitsChange(before, now)


def _step(queue: Queue, action: Action, request_id: str, text: str) -> Call:
    if action == "pause_alone" or action == "open_alone":
        return commands.control_queue(queue, steps.ALONE[action], request_id, _random())
    return commands.control(queue.scope, action, request_id, _random(), text=text)


def _check_seen(now: QueueView, changes: Mapping[str, Value], seen: Mapping[str, int | None]) -> None:
    """What is in force already as it is wanted (the form was sent twice) is no surprise."""
    wanted = {name: getattr(now.queue, name) if value == limits.FROM_CONFIG else value for name, value in changes.items()}
    names = [name for name, value in seen.items() if getattr(now.limits, name) not in (value, wanted[name])]
    if names:
        raise Overtaken(names, seen, now)


def _refuse(answer: Answer, now: QueueView) -> None:
    if answer.verdict == MISSING:
        raise Refused(START_FIRST)
    if answer.verdict == "busy":
        raise TooManySteps
    if answer.verdict == "reused":
        raise KeyReused
    if answer.verdict != "ok":
        raise Refused(steps.no_calls(answer.verdict, now))


def _line(queue: Queue, lane: str) -> int:
    names = [each.name for each in queue.lanes]
    if lane not in names:
        known = f"its lanes are {', '.join(names)}" if names else "it has no lanes"
        raise BadValue("lane", f"{lane[:40]!r} is no lane of this queue; {known}")
    return queue.line + names.index(lane)


def _shortfall(now: QueueView, lane: str | None) -> str:
    if now.slots_left == 0 and now.waiting:
        what = "units are left" if now.inventory_left == 0 else "slots are free"
        return f"no more {what}"
    if lane is not None and any(each.name == lane and each.waiting == 0 for each in now.lanes):
        return f"nobody else waits in {lane}"
    return "nobody else waits" if now.waiting == 0 else "nobody else could be called now"


def _random() -> str:
    return secrets.token_hex(16)
