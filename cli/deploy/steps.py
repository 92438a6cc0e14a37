"""Carrying a plan out: one step after the other, with a bar; what was done and how to go on when one fails."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

import click

from cli.deploy.account import note
from cli.deploy.api import Api, ApiError, Call, Known
from edge.core.errors import StoreBusy
from edge.core.model import Queue

_VERSION = "/service/{service}/version/{version}"
_HOW_TO_GO_ON = """What was done stays. A version goes live when it is activated; values and secrets are read at once.
Mend the cause and run the same command again: it looks at what is there and goes on."""


@dataclass(frozen=True)
class NoteVersion:
    """Writes into the version's comment what it was made of, once that is known."""

    sources: str
    secrets: Mapping[str, str]


@dataclass(frozen=True)
class Validate:
    """Asks whether the version could be activated."""


@dataclass(frozen=True)
class Begin:
    """Begins the state of a queue that no edge has served yet, or of its group."""

    queue: Queue


@dataclass(frozen=True)
class Step:
    """One thing to do, and what it is called in the plan."""

    what: str
    action: Call | NoteVersion | Validate | Begin


class StepFailed(Exception):
    """A step failed. The text says what was done, what failed and why, and how to go on."""


@dataclass
class Runner:
    """Does steps. `begin_queue` answers with what became of the queue; `fingerprint` marks secrets and their digests."""

    api: Api
    known: Known
    begin_queue: Callable[[Queue], str]
    fingerprint: Callable[[Mapping[str, str], Mapping[str, str]], str]

    def shown(self, step: Step) -> str:
        """The call that the step would make, in one line and without secrets."""
        action = step.action
        if isinstance(action, Call):
            return action.shown(self.known)
        if isinstance(action, Begin):
            return f"POST Redis over REST: EVAL configure {action.queue.scope}"
        if isinstance(action, Validate):
            return Call("GET", _VERSION + "/validate").shown(self.known)
        return Call("PUT", _VERSION, form={"comment": note(action.sources, "?" * 16)}).shown(self.known)

    def run(self, step: Step) -> None:
        """Does one step. Raises ApiError, click.ClickException."""
        action = step.action
        if isinstance(action, Call):
            self.api.run(action, self.known)
        elif isinstance(action, Begin):
            self._begin(action.queue)
        elif isinstance(action, Validate):
            self._validate()
        else:
            mark = self.fingerprint(action.secrets, self._digests())
            self.api.run(Call("PUT", _VERSION, form={"comment": note(action.sources, mark)}), self.known)

    def _digests(self) -> dict[str, str]:
        prefix = "digest:"
        return {name.removeprefix(prefix): value for name, value in self.known.items() if name.startswith(prefix)}

    def _begin(self, queue: Queue) -> None:
        try:
            verdict = self.begin_queue(queue)
        except StoreBusy as error:
            raise ApiError(f"Redis is busy: {error}") from error
        if verdict not in ("created", "taken", "kept"):
            raise ApiError(f"{queue.scope}: its state in Redis did not take the configuration ({verdict})")

    def _validate(self) -> None:
        told = self.api.run(Call("GET", _VERSION + "/validate"), self.known)
        if not isinstance(told, dict) or told.get("status") != "ok":
            fields = told if isinstance(told, dict) else {}
            said = [str(fields[name]) for name in ("msg", "errors", "messages") if fields.get(name)]
            raise ApiError(f"the version cannot be activated: {'; '.join(said) or str(told)[:300]}")


def carry_out(steps: Sequence[Step], runner: Runner) -> None:
    """Does every step under a bar. Raises StepFailed."""
    done = 0
    with click.progressbar(steps, label="deploying", item_show_func=lambda step: step.what if step else "") as bar:
        try:
            for step in bar:
                runner.run(step)
                done += 1
        except (ApiError, click.ClickException) as error:
            why = error.format_message() if isinstance(error, click.ClickException) else str(error)
        except KeyboardInterrupt:
            why = "it was interrupted; whether Fastly did it, the next run sees"
        else:
            return
    raise StepFailed(_account(steps, done, why))


def _account(steps: Sequence[Step], done: int, why: str) -> str:
    lines = [f"done:   {step.what}" for step in steps[:done]]
    lines += [f"failed: {steps[done].what}", f"        {why}"]
    lines += [f"open:   {step.what}" for step in steps[done + 1 :]]
    return "\n".join([*lines, _HOW_TO_GO_ON])
