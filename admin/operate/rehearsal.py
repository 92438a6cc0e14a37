"""Rehearsals: the simulation of the engine (`stanchion simulate`) on a queue's settings, one at a time, in a process of its own.

The simulation starts a Redis of its own; the sale that runs is not touched.
"""

from __future__ import annotations

import asyncio
import contextlib
import json
import os
import re
import secrets
import signal
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

from admin.log import log
from admin.operate.rehearsal_sale import Asked, sale_text
from admin.operations import Refused
from admin.queue_view import MISSING, QueueView
from admin.state import rehearsals as table
from admin.state.db import Database, StateUnavailable
from admin.state.rehearsals import CANCELLED, DONE, FAILED, RUNNING, Rehearsal

TAKES_AT_MOST_S = 900.0
END_WITHIN_S = 10.0
NICE = 10
TEXT_AT_MOST = 20_000
CURVE_POINTS = 600
_PROGRESS = re.compile(rb"progress (\d{1,4})")


class Rehearsals:
    """`unix_s` is the clock; `command` runs the simulation, with the file of the sale and its options behind it."""

    def __init__(self, db: Database, unix_s: Callable[[], float], command: tuple[str, ...] = ()) -> None:
        self._db = db
        self._clock = unix_s
        self._command = command or (sys.executable, "-m", "cli.main", "simulate")
        self._starting = asyncio.Lock()
        self._task: asyncio.Task[None] | None = None
        self._process: asyncio.subprocess.Process | None = None
        self._id = ""
        self._is_cancelled = False
        self.thousandths = 0

    async def start(self, view: QueueView, asked: Asked, by: str) -> str:
        """Begins one and returns its id. Raises Refused while another one runs, or for a queue that has no state."""
        if view.status == MISSING:
            raise Refused("start the queue first: its limits in force are what is rehearsed")
        async with self._starting:
            now_ms = int(self._clock() * 1000)
            since_ms = now_ms - int((TAKES_AT_MOST_S + 60) * 1000)
            await self._db.run(lambda session: table.end_lost(session, since_ms))
            other = await self._db.read(lambda session: table.running(session, since_ms))
            if other is not None or (self._task and not self._task.done()):
                raise Refused("another rehearsal runs; wait for it, or cancel it")
            one = Rehearsal(secrets.token_hex(8), view.id, by, now_ms, RUNNING, sale_text(view, asked))
            await self._db.run(lambda session: table.add(session, one))
            self._id, self.thousandths, self._is_cancelled = one.id, 0, False
            self._task = asyncio.create_task(self._hold(one))
            return one.id

    def progress(self, rehearsal_id: str) -> int:
        """How much of a running one is done, in thousandths; 0 for one of another app."""
        return self.thousandths if rehearsal_id == self._id else 0

    async def cancel(self, rehearsal_id: str) -> None:
        """Ends a running one. Raises Refused for one that this app does not run."""
        if rehearsal_id != self._id or self._task is None or self._task.done():
            raise Refused("this rehearsal does not run here: it has ended, or another admin app holds it")
        self._is_cancelled = True
        self._end_process(signal.SIGTERM)
        await asyncio.wait({self._task}, timeout=END_WITHIN_S)

    async def stop(self) -> None:
        """Ends what runs, with the app."""
        if self._task is not None and not self._task.done():
            self._is_cancelled = True
            self._end_process(signal.SIGTERM)
            await asyncio.wait({self._task}, timeout=END_WITHIN_S)
            self._end_process(signal.SIGKILL)

    async def _hold(self, one: Rehearsal) -> None:
        with tempfile.TemporaryDirectory(prefix="stanchion-rehearsal-") as folder:
            try:
                status, report = await self._run(one, Path(folder))
            except OSError as error:
                status, report = FAILED, {"problem": f"the simulation cannot be started: {error}"}
        log("rehearsal", queue=one.queue, id=one.id, status=status)
        with contextlib.suppress(StateUnavailable):
            await self._db.run(lambda session: table.finish(session, one.id, status, report))

    async def _run(self, one: Rehearsal, folder: Path) -> tuple[str, dict[str, Any]]:
        sale, figures = folder / "sale.toml", folder / "figures.json"
        sale.write_text(one.sale, encoding="utf-8")
        self._process = process = await asyncio.create_subprocess_exec(
            *self._command, str(sale), "--json", str(figures), "--tell", stdin=asyncio.subprocess.DEVNULL,
            stdout=asyncio.subprocess.PIPE, stderr=asyncio.subprocess.PIPE, start_new_session=True,
            preexec_fn=lambda: os.nice(NICE),
        )  # fmt: skip
        assert process.stdout
        assert process.stderr
        try:
            async with asyncio.timeout(TAKES_AT_MOST_S):
                said, complaint = await asyncio.gather(process.stdout.read(), self._listen(process.stderr))
                code = await process.wait()
        except TimeoutError:
            self._end_process(signal.SIGKILL)
            await process.wait()
            return FAILED, {"problem": f"it took longer than {TAKES_AT_MOST_S / 60:.0f} minutes; rehearse fewer people"}
        if self._is_cancelled:
            return CANCELLED, {}
        if code or not figures.is_file():
            return FAILED, {"problem": complaint[-TEXT_AT_MOST:] or f"the simulation ended with code {code}"}
        data = json.loads(figures.read_text(encoding="utf-8"))
        return DONE, {"text": said.decode(errors="replace")[:TEXT_AT_MOST], "data": _thinned(data)}

    async def _listen(self, stream: asyncio.StreamReader) -> str:
        """Hears how far it is; returns everything else that was said."""
        rest: list[bytes] = []
        while line := await stream.readline():
            if found := _PROGRESS.match(line):
                self.thousandths = min(1000, int(found[1]))
            elif len(rest) < 200:
                rest.append(line)
        return b"".join(rest).decode(errors="replace").strip()

    def _end_process(self, how: signal.Signals) -> None:
        if self._process is not None and self._process.returncode is None:
            with contextlib.suppress(ProcessLookupError):
                # The session is its own: the Redis that it started ends with it.
                os.killpg(self._process.pid, how)


def _thinned(data: dict[str, Any]) -> dict[str, Any]:
    """The figures with curves of few points, as they are drawn."""
    curves = {name: points[:: max(1, len(points) // CURVE_POINTS)] for name, points in data.get("curves", {}).items()}
    return {**data, "curves": curves}
