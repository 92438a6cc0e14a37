"""What was answered to whom, and the error that a broken law is."""

from __future__ import annotations

from array import array

from sim.people import Person

OPS = ("join", "touch", "renew", "end", "checkout")
VERDICTS = ("waiting", "called", "inside", "ended", "candidate", "recovering", "epoch", "missing", "freed", "left", "already",
            "late", "conflict", "paused", "closed", "sold_out", "not_open", "prequeue", "checkout", "refused", "lapsed",
            "other")  # fmt: skip
_OP_NUMBER = {name: number for number, name in enumerate(OPS)}
_VERDICT_NUMBER = {name: number for number, name in enumerate(VERDICTS)}


class Violated(Exception):
    """A law is broken. `person`: whose history shows it, or None; `at_ms`: when that was seen, set by the account."""

    def __init__(self, law: str, what: str, person: Person | None = None) -> None:
        super().__init__(f"{law}: {what}")
        self.law, self.what, self.person, self.at_ms = law, what, person, 0


class History:
    """What was answered to whom, compact: 18 bytes an answer."""

    def __init__(self) -> None:
        self._at, self._who, self._position = array("q"), array("i"), array("i")
        self._op, self._verdict = array("B"), array("B")

    def note(self, at_ms: int, who: int, op: str, verdict: str, position: int) -> None:
        """Adds one answer."""
        self._at.append(at_ms)
        self._who.append(who)
        self._position.append(position)
        self._op.append(_OP_NUMBER[op])
        self._verdict.append(_VERDICT_NUMBER.get(verdict, len(VERDICTS) - 1))

    def __len__(self) -> int:
        return len(self._at)

    def of(self, who: int) -> list[tuple[int, str, str, int]]:
        """(ms, step, verdict, position) of one person, in order."""
        return [
            (self._at[i], OPS[self._op[i]], VERDICTS[self._verdict[i]], self._position[i])
            for i, one in enumerate(self._who)
            if one == who
        ]
