"""The database of the admin app: SQLite in a file by default, PostgreSQL by URL.

Work on it is a function of a session that runs in a thread, in one transaction: `await db.run(write)`, `await db.read(look)`.
SQLite runs in WAL mode: readers never wait for a writer; writers take turns from the start of their transaction.
"""

from __future__ import annotations

import asyncio
import sqlite3
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import Any, TypeVar

from sqlalchemy import Connection, Engine, create_engine, event, text
from sqlalchemy.engine import make_url
from sqlalchemy.exc import ArgumentError, DBAPIError, InterfaceError, OperationalError, TimeoutError
from sqlalchemy.orm import Session

T = TypeVar("T")
THREADS = 4
# How long a writer waits for its turn, a connection for its server, and a statement for its answer.
BUSY_S = 5
CONNECT_S = 5
STATEMENT_S = 10
WRITES = "stanchion_writes"


class StateUnavailable(Exception):
    """The database cannot be asked now. The text says why, without any secret."""


class StateError(Exception):
    """The database cannot be used at all: a wrong address, a missing driver, a schema that is newer than this program."""


class Database:
    """`url`: `sqlite:///path` or `postgresql://user:password@host/name`. Raises StateError for another one."""

    def __init__(self, url: str) -> None:
        self.engine = _engine(url)
        self._threads = ThreadPoolExecutor(THREADS, thread_name_prefix="state")

    async def run(self, work: Callable[[Session], T]) -> T:
        """Runs `work` in one transaction that may write; an exception takes it back. Raises StateUnavailable."""
        return await asyncio.get_running_loop().run_in_executor(self._threads, self.run_now, work)

    async def read(self, work: Callable[[Session], T]) -> T:
        """The same for work that only reads. Raises StateUnavailable."""
        return await asyncio.get_running_loop().run_in_executor(self._threads, self._transact, work, False)

    def run_now(self, work: Callable[[Session], T]) -> T:
        """The same as `run` in this thread, for the start and the command line. Raises StateUnavailable."""
        return self._transact(work, True)

    async def check(self) -> str:
        """Why the database cannot be asked now, or empty."""
        try:
            await self.read(lambda session: session.execute(text("SELECT 1 FROM users LIMIT 1")).all())
        except StateUnavailable as error:
            return str(error)
        return ""

    def close(self) -> None:
        """Gives back connections and threads."""
        self._threads.shutdown(wait=True, cancel_futures=True)
        self.engine.dispose()

    def _transact(self, work: Callable[[Session], T], writes: bool) -> T:
        try:
            with Session(self.engine, expire_on_commit=False) as session, session.begin():
                session.connection(execution_options={WRITES: writes})
                return work(session)
        except (OperationalError, InterfaceError, TimeoutError) as error:
            raise StateUnavailable(f"the admin's own database does not answer: {_reason(error)}") from error


def _engine(url: str) -> Engine:
    try:
        parsed = make_url(url)
        if parsed.get_backend_name() == "sqlite":
            engine = create_engine(parsed, connect_args={"timeout": BUSY_S})
            event.listen(engine, "connect", _prepare_sqlite)
            event.listen(engine, "begin", _begin_sqlite)
            return engine
        if parsed.get_backend_name() == "postgresql":
            options = f"-c statement_timeout={STATEMENT_S * 1000} -c lock_timeout={BUSY_S * 1000}"
            return create_engine(
                parsed.set(drivername="postgresql+psycopg"), pool_pre_ping=True, pool_size=THREADS,
                connect_args={"connect_timeout": CONNECT_S, "options": options},
            )  # fmt: skip
    except ArgumentError:
        raise StateError("the address is not one of a database. Allowed: sqlite:///path or postgresql://…") from None
    except ModuleNotFoundError:
        raise StateError("PostgreSQL needs its driver: pip install 'stanchion[postgres]'") from None
    raise StateError(f"{parsed.get_backend_name()!r} is no database that this works with. Allowed: sqlite or postgresql")


def _prepare_sqlite(connection: sqlite3.Connection, record: Any) -> None:
    # Transactions begin where we say so, not at the first INSERT.
    connection.isolation_level = None
    for pragma in ("journal_mode=WAL", "synchronous=NORMAL", "foreign_keys=ON"):
        connection.execute(f"PRAGMA {pragma}")


def _begin_sqlite(connection: Connection) -> None:
    writes = connection.get_execution_options().get(WRITES, True)
    connection.exec_driver_sql("BEGIN IMMEDIATE" if writes else "BEGIN")


def _reason(error: Exception) -> str:
    cause = error.orig if isinstance(error, DBAPIError) else error
    return " ".join(str(cause).split())[:200]
