"""Every step against Redis as a value: which script, which keys, which arguments; and how its answer reads.

The steps themselves are in edge/core/commands.py.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache

from edge.core import quick_json, snapshot
from edge.core.errors import StoreBusy
from edge.core.scripts import Flavour, Script
from edge.core.snapshot import Snapshot

_PARTS = ("state", "places", "places-old", "ready", "seen", "called", "active", "used", "left", "gone", "ended", "claims",
          "reentry", "requests", "visits", "passed", "invites", "nodes", "sample", "events", "holders", "joins",
          "figures")  # fmt: skip

# One replacement makes all keys of a scope, as they are and as JSON: a step for each costs a fresh sandbox more than the rest.
_KEYS = "\n".join(f"st:{{*}}:{part}" for part in _PARTS)
_KEYS_WRITTEN = ",".join(f'"st:{{*}}:{part}"' for part in _PARTS)
# Between arguments that are escaped together: no argument of ours holds it, and one that does is written by itself.
_BETWEEN, _BETWEEN_WRITTEN = "\x7f", "\\u007f"


@lru_cache(maxsize=1024)
def keys(scope: str) -> tuple[str, ...]:
    """The keys of a scope, in the order of `scripts/head.lua`; one hash tag, so one slot of a cluster."""
    return tuple(_KEYS.replace("*", scope).split("\n"))


def key_of(scope: str, part: str) -> str:
    """One of them, by its part. Raises ValueError for a part that there is not."""
    return keys(scope)[_PARTS.index(part)]


def member(position: int, line: int = 0, *, arrival: bool = False) -> str:
    """A place as the scripts name it. `arrival`: the number was given before the opening."""
    name = str(position) if line == 0 else f"{line}:{position}"
    return f"a{name}" if arrival else name


def read_member(name: str) -> tuple[int, int]:
    """Line and position of a place as the scripts name it. Raises ValueError when it is none."""
    line, _, position = name.rpartition(":")
    return int(line or 0), int(position)


@dataclass(slots=True)
class Call:
    """One script with its keys and arguments, ready to be sent by EVALSHA, or by EVAL when the server has forgotten it."""

    script: Script
    scope: str
    args: tuple[str, ...]

    @property
    def keys(self) -> tuple[str, ...]:
        """Its keys; made when it is sent, for most snapshots are at hand."""
        return keys(self.scope)

    def evalsha(self, flavour: Flavour = "redis") -> list[str]:
        """The command that names the script by its SHA-1; the server may answer NOSCRIPT."""
        return ["EVALSHA", self.script.sha[flavour], str(len(_PARTS)), *self.keys, *self.args]

    def eval(self, flavour: Flavour = "redis") -> list[str]:
        """The command that carries the whole script."""
        return ["EVAL", self.script.text[flavour], str(len(_PARTS)), *self.keys, *self.args]

    def written(self, flavour: Flavour = "redis", *, whole: bool = False) -> str:
        """The same command as JSON; `whole`: the one that carries the script."""
        args = quick_json.written(_BETWEEN.join(self.args)).replace(_BETWEEN_WRITTEN, '","')
        if args.count('","') != len(self.args) - 1:
            return quick_json.write(self.eval(flavour) if whole else self.evalsha(flavour))
        head = f'"EVAL",{quick_json.written(self.script.text[flavour])}' if whole else f'"EVALSHA","{self.script.sha[flavour]}"'
        keys_written = _KEYS_WRITTEN.replace("*", quick_json.written(self.scope)[1:-1])
        return f'[{head},"{len(_PARTS)}",{keys_written},{args}]'


@dataclass(slots=True)
class Answer:
    """What a script said: a verdict, its details in the order of the script's header, and the snapshot that rode along.

    `visitor`: whom a key stands for now, where the step was one of a key; else empty.
    """

    verdict: str
    details: tuple[str, ...]
    snapshot: Snapshot | None
    visitor: str = ""

    def number(self, index: int) -> int:
        """Detail `index` as a whole number; of a place its position. Raises StoreBusy when the script did not say one."""
        try:
            return int(self.details[index].rpartition(":")[2])
        except (ValueError, IndexError) as error:
            raise StoreBusy(f"the store answered {self.verdict} without its numbers") from error

    @property
    def line(self) -> int:
        """The line of the place that the answer names."""
        return read_member(self.details[0])[0] if self.details else 0

    @property
    def is_arrival(self) -> bool:
        """Whether the place is a number of arrival from before the opening."""
        return self.verdict == "waiting" and self.details[1:2] == ("arrival",)

    @staticmethod
    def read(reply: object) -> Answer:
        """Reads a reply. Raises StoreBusy when it is not one of ours (a proxy's answer, another version's)."""
        try:
            verdict, snap = _as_list(_as_list(reply)[0]), _as_list(_as_list(reply)[1])
            whom = str(_as_list(reply)[2]) if len(_as_list(reply)) > 2 else ""
            return Answer(str(verdict[0]), tuple(map(str, verdict[1:])), snapshot.parse(snap) if snap else None, whom)
        except (TypeError, ValueError, IndexError) as error:
            raise StoreBusy(f"the store answered with something that no script of ours says: {str(reply)[:80]!r}") from error


def _as_list(value: object) -> list[object]:
    if not isinstance(value, list):
        raise TypeError(f"a list was expected, not {type(value).__name__}")
    return value


def call_of(script: Script, scope: str, now_ms: int | None, random: str, *args: object) -> Call:
    """A call with the arguments that all scripts have, and its own as text; None is an empty one."""
    head = ("" if now_ms is None else str(now_ms), random)
    return Call(script, scope, (*head, *["" if arg is None else str(arg) for arg in args]))


def pipeline(calls: Sequence[Call], flavour: Flavour = "redis") -> list[list[str]]:
    """What POST /pipeline takes for `calls`."""
    return [call.evalsha(flavour) for call in calls]


def pipeline_body(calls: Sequence[Call], flavour: Flavour = "redis", *, whole: bool = False) -> str:
    """The body of POST /pipeline for `calls`, which is JSON; `whole`: with the text of the scripts."""
    return f"[{','.join([call.written(flavour, whole=whole) for call in calls])}]"
