"""The admin's own database: its schema, its transactions, and an audit log that is only added to."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Iterator
from pathlib import Path

import pytest
from alembic.autogenerate import compare_metadata
from alembic.migration import MigrationContext
from sqlalchemy import select, text
from sqlalchemy.exc import DatabaseError

from admin.state import audit, users
from admin.state.audit import Entry
from admin.state.db import Database, StateError, StateUnavailable
from admin.state.migrate import migrate
from admin.state.tables import AuditRow, Table, UserRow

ENTRY = Entry(1_000, "mai", "owner", "console", "queue.pause", "queue:sale", {"status": "open"}, {"status": "paused"})


@pytest.fixture
def db(tmp_path: Path) -> Iterator[Database]:
    made = Database(f"sqlite:///{tmp_path / 'admin.db'}")
    migrate(made)
    yield made
    made.close()


def test_the_steps_lead_to_the_tables(db: Database) -> None:
    assert not migrate(db), "a second start has nothing to do"
    with db.engine.connect() as connection:
        assert compare_metadata(MigrationContext.configure(connection), Table.metadata) == []


def test_two_that_start_at_once(tmp_path: Path) -> None:
    url = f"sqlite:///{tmp_path / 'admin.db'}"
    did: list[bool] = []

    def start() -> None:
        mine = Database(url)
        did.append(migrate(mine))
        mine.close()

    threads = [threading.Thread(target=start) for _ in range(3)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(30)
    assert sorted(did) == [False, False, True]


def test_the_audit_log_is_only_added_to(db: Database) -> None:
    number = db.run_now(lambda session: audit.add(session, ENTRY))
    for statement in ("UPDATE audit SET who = 'nobody'", "DELETE FROM audit"):
        with pytest.raises(DatabaseError, match="only added to"):
            db.run_now(lambda session, statement=statement: session.execute(text(statement)))
    row = db.run_now(lambda session: session.scalars(select(AuditRow)).one())
    assert (row.id, row.who, row.before, row.after) == (number, "mai", {"status": "open"}, {"status": "paused"})


def test_a_failure_takes_everything_back(db: Database) -> None:
    def half(session: object) -> None:
        session.add(UserRow(id="u", name="mai", role="owner", created_at_ms=1))  # type: ignore[attr-defined]
        raise RuntimeError

    with pytest.raises(RuntimeError):
        db.run_now(half)
    assert db.run_now(users.count) == 0


async def _check(db: Database) -> str:
    return await db.check()


def test_a_database_that_is_away_is_said(tmp_path: Path) -> None:
    gone = Database(f"sqlite:///{tmp_path / 'nowhere' / 'admin.db'}")
    assert "unable to open" in asyncio.run(_check(gone))
    with pytest.raises(StateUnavailable, match="does not answer"):
        gone.run_now(users.count)
    with pytest.raises(StateError, match="cannot be used"):
        migrate(gone)
    gone.close()


@pytest.mark.parametrize("url", ["nonsense", "mysql://host/name", "redis://x"])
def test_other_databases_are_refused(url: str) -> None:
    with pytest.raises(StateError, match="Allowed"):
        Database(url)


def test_a_schema_of_a_newer_program_is_left_alone(db: Database) -> None:
    db.run_now(lambda session: session.execute(text("UPDATE alembic_version SET version_num = '9999'")))
    with pytest.raises(StateError, match="newer program"):
        migrate(db)
