"""A queue in a store, with a clock that the test moves: short words for what visitors and operators do."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any, Literal

from edge.core import calls, commands
from edge.core.calls import Answer
from edge.core.commands import EndReason
from edge.core.model import QUEUE, Queue
from edge.core.snapshot import Snapshot
from tests.scripts.backends import SCOPE, Store

START_MS = 1_800_000_000_000


@dataclass(frozen=True)
class Ticket:
    """What a visitor's cookie holds: a place, or with `expires_ms` a pass."""

    visitor: str
    epoch: str
    position: int
    expires_ms: int = 0
    line: int = 0
    is_arrival: bool = False


def queue(**settings: Any) -> Queue:
    """A checked queue of the test's scope."""
    values: dict[str, Any] = {
        "id": SCOPE,
        "name": "Q",
        "routes": [{"host": "*", "path": "/*"}],
        "admit_per_minute": 60,
    }
    built: Queue = QUEUE.check(values | settings, "")
    return built


class Line:
    """One queue. `now_ms` is the server's clock; every step happens then."""

    def __init__(self, store: Store, begin: bool = True, **settings: Any) -> None:
        self.store, self.settings, self.queue, self.now_ms = store, settings, queue(**settings), START_MS
        self._requests = self._randoms = 0
        if begin:
            assert self.configure(new=True).verdict == "created"

    # --- time ------------------------------------------------

    def wait(self, seconds: float) -> None:
        """Moves the server's clock; negative: back."""
        self.now_ms += round(seconds * 1000)

    def live(self, seconds: float, every_s: float = 20) -> None:
        """Time passes while edges take their snapshots."""
        end_ms = self.now_ms + round(seconds * 1000)
        while self.now_ms < end_ms:
            self.now_ms = min(end_ms, self.now_ms + round(every_s * 1000))
            self.snapshot()

    # --- visitors ------------------------------------------------

    def join(
        self,
        visitor: str,
        *,
        direct: bool = False,
        wants_in: bool = False,
        old: Ticket | None = None,
        line: int = 0,
        invite: str = "",
    ) -> Answer:
        """A visitor asks for a place."""
        old = old or Ticket(visitor, "", 0)
        return self.store.script(
            commands.join(
                SCOPE,
                visitor,
                self._random(),
                direct=direct,
                wants_in=wants_in,
                old_epoch=old.epoch,
                old_position=old.position,
                old_line=old.line,
                old_arrival=old.is_arrival,
                line=line,
                invite=invite,
                now_ms=self.now_ms,
            )
        )

    def place(self, visitor: str, line: int = 0) -> Ticket:
        """Joins, and must get a place."""
        return self.ticket(visitor, self.join(visitor, line=line))

    def places(self, count: int, prefix: str = "v", line: int = 0) -> list[Ticket]:
        """`count` visitors join one after the other."""
        return [self.place(f"{prefix}{number}", line) for number in range(1, count + 1)]

    def enter(self, visitor: str) -> Ticket:
        """Joins and comes in at once."""
        answer = self.join(visitor, wants_in=True)
        assert answer.verdict == "inside", answer
        return self.ticket(visitor, answer)

    def ticket(self, visitor: str, answer: Answer) -> Ticket:
        """The cookie that an answer gives."""
        assert answer.verdict in ("waiting", "called", "inside"), answer
        assert answer.snapshot is not None
        expires_ms = answer.number(1) if answer.verdict == "inside" else 0
        return Ticket(
            visitor, answer.snapshot.epoch, answer.number(0), expires_ms, answer.line, answer.is_arrival
        )

    def touch(self, ticket: Ticket, *, wants_in: bool = False) -> Answer:
        """A poll that reaches the store."""
        return self.store.script(
            commands.touch(
                SCOPE,
                ticket.epoch,
                ticket.position,
                ticket.visitor,
                self._random(),
                line=ticket.line,
                arrival=ticket.is_arrival,
                wants_in=wants_in,
                now_ms=self.now_ms,
            )
        )

    def look(self, ticket: Ticket, *, wants_in: bool = False, node: str = "", visits: int = 0) -> Answer:
        """The heartbeat and a poll that reaches the store, in one."""
        return self.store.script(
            commands.look(
                SCOPE,
                ticket.epoch,
                ticket.position,
                ticket.visitor,
                self._random(),
                line=ticket.line,
                arrival=ticket.is_arrival,
                wants_in=wants_in,
                node=node,
                visits=visits,
                now_ms=self.now_ms,
            )
        )

    def claim(self, ticket: Ticket) -> Ticket:
        """Comes in; the turn must have come."""
        answer = self.touch(ticket, wants_in=True)
        assert answer.verdict == "inside", answer
        return self.ticket(ticket.visitor, answer)

    def renew(self, held: Ticket) -> Answer:
        """A pass in use asks for a new expiry."""
        return self.store.script(
            commands.renew(
                SCOPE,
                held.epoch,
                held.position,
                held.visitor,
                held.expires_ms,
                self._random(),
                line=held.line,
                now_ms=self.now_ms,
            )
        )

    def end(
        self, ticket: Ticket, reason: EndReason = "left", units: int = 1, *, is_report: bool = False
    ) -> Answer:
        """A visit or a place ends."""
        return self.store.script(
            commands.end(
                SCOPE,
                ticket.epoch,
                ticket.position,
                ticket.visitor,
                reason,
                self._random(),
                line=ticket.line,
                arrival=ticket.is_arrival,
                units=units,
                is_report=is_report,
                now_ms=self.now_ms,
            )
        )

    def checkout(self, held: Ticket, step: Literal["start", "extend"] = "start") -> Answer:
        """The payment begins, or gets its time once more."""
        return self.store.script(
            commands.checkout(
                SCOPE,
                held.epoch,
                held.position,
                held.visitor,
                step,
                self._random(),
                line=held.line,
                now_ms=self.now_ms,
            )
        )

    # --- operators and edges ------------------------------------------------

    def configure(self, *, new: bool = False, **changes: Any) -> Answer:
        """Offers the configuration, with `changes` and then a newer version."""
        if changes:
            version = changes.pop("config_version", self.queue.config_version + 1)
            self.settings |= changes | {"config_version": version}
            self.queue = queue(**self.settings)
        return self.store.script(commands.configure(self.queue, self._random(), new=new, now_ms=self.now_ms))

    def snapshot(self, node: str = "", visits: int = 0) -> Answer:
        """The full snapshot, the heartbeat."""
        return self.store.script(
            commands.take_snapshot(SCOPE, self._random(), node=node, visits=visits, now_ms=self.now_ms)
        )

    def seen(self) -> Snapshot:
        """What the heartbeat shows."""
        snapshot = self.snapshot().snapshot
        assert snapshot is not None
        return snapshot

    def control(self, action: commands.Action, request_id: str = "", text: str = "") -> Answer:
        """An operator's step."""
        request_id = request_id or self._request_id()
        return self.store.script(
            commands.control(SCOPE, action, request_id, self._random(), text=text, now_ms=self.now_ms)
        )

    def control_queue(self, action: Literal["pause_lines", "open_lines"], queue: Queue, request_id: str = "") -> Answer:
        """An operator's step on one queue of a group."""
        request_id = request_id or self._request_id()
        call = commands.control_queue(queue, action, request_id, self._random(), now_ms=self.now_ms)
        return self.store.script(replace(call, scope=SCOPE))

    def admit(
        self, count: int, request_id: str = "", *, over_rate: bool = False, line: int | None = None
    ) -> Answer:
        """An operator calls the next."""
        request_id = request_id or self._request_id()
        return self.store.script(
            commands.admit(
                SCOPE,
                count,
                request_id,
                self._random(),
                over_rate=over_rate,
                line=line,
                now_ms=self.now_ms,
            )
        )

    def open_queue(self, seed: str = "5eed", key: str = "ce1", beacon: str = "") -> Answer:
        """The order is drawn; the first edge that sees that it is due does this."""
        state = self.state()
        return self.store.script(
            commands.open_queue(
                SCOPE,
                state["epoch"],
                seed,
                key,
                int(state["opens_at"]),
                self._random(),
                beacon=beacon,
                now_ms=self.now_ms,
            )
        )

    def set_limits(
        self,
        request_id: str = "",
        values: Mapping[str, int | Literal["="] | None] | None = None,
        **more: int | Literal["="] | None,
    ) -> Answer:
        """An operator's live values."""
        named = {**(values or {}), **more}
        return self.store.script(
            commands.set_limits(SCOPE, named, self._random(), request_id=request_id, now_ms=self.now_ms)
        )

    def _random(self) -> str:
        self._randoms += 1
        return f"{self._randoms:06x}0123456789"

    def _request_id(self) -> str:
        self._requests += 1
        return f"request-{self._requests}"

    # --- what the store holds ------------------------------------------------

    def state(self) -> dict[str, str]:
        """All fields of the state."""
        flat = self.store.command("HGETALL", calls.keys(SCOPE)[0])
        return dict(zip(flat[::2], flat[1::2], strict=True))

    def number(self, field: str) -> int:
        """One field of the state."""
        return int(self.state()[field])

    def members(self, part: str) -> list[str]:
        """Members of a sorted set (`ready`, `called`, `active`, ...), lowest score first."""
        members: list[str] = self.store.command("ZRANGE", f"st:{{{SCOPE}}}:{part}", "0", "-1")
        return members

    def scores(self, part: str) -> dict[str, float]:
        """Members of a sorted set and their scores."""
        flat = self.store.command("ZRANGE", f"st:{{{SCOPE}}}:{part}", "0", "-1", "WITHSCORES")
        return {member: float(score) for member, score in zip(flat[::2], flat[1::2], strict=True)}

    def positions(self, part: str) -> list[int]:
        """Positions in a sorted set, in their order."""
        return sorted(int(member) for member in self.members(part))
