"""The admin's own database: its schema, its transactions, and an audit log that is only added to."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from alembic.autogenerate import compare_metadata
from alembic.migration import MigrationContext
from sqlalchemy import select, text
from sqlalchemy.exc import DatabaseError
from sqlalchemy.orm import Session

from admin.access.permissions import OWNER, VIEWER
from admin.state import audit, links, sessions, tokens, users
from admin.state.audit import Entry, Wanted
from admin.state.db import Database, StateError, StateUnavailable
from admin.state.migrate import migrate
from admin.state.tables import AuditRow, Table, UserRow
from admin.state.tokens import TokenNameTaken
from admin.state.users import LastOwner, NameTaken
from tests.admin.conftest import Serve
from tests.admin.state.postgres import Cluster, running
from tests.admin.world import Bridge, queue_json

ENTRY = Entry(1_000, "mai", "owner", "console", "queue.pause", "queue:sale", {"status": "open"}, {"status": "paused"})


@pytest.fixture(scope="module")
def cluster() -> Iterator[Cluster]:
    with running() as started:
        yield started


@pytest.fixture(params=["sqlite", "postgresql"])
def url(request: pytest.FixtureRequest, tmp_path: Path) -> str:
    """An empty database."""
    if request.param == "sqlite":
        return f"sqlite:///{tmp_path / 'admin.db'}"
    cluster: Cluster = request.getfixturevalue("cluster")
    return cluster.empty()


@pytest.fixture
def db(url: str) -> Iterator[Database]:
    made = Database(url)
    migrate(made)
    yield made
    made.close()


def test_the_steps_lead_to_the_tables(db: Database) -> None:
    assert not migrate(db), "a second start has nothing to do"
    with db.engine.connect() as connection:
        assert compare_metadata(MigrationContext.configure(connection), Table.metadata) == []


def test_two_that_start_at_once(url: str) -> None:
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


def test_people_are_found_changed_and_kept_from_locking_out(db: Database) -> None:
    def work(session: Session) -> None:
        first = users.add(session, "1", "Mai", OWNER, 1, password_hash="h")
        with pytest.raises(NameTaken):
            users.add(session, "2", "mai", VIEWER, 1)
        users.add(session, "3", "ken", OWNER, 1)
        assert users.by_name(session, "MAI") == first
        assert [person.name for person in users.page(session)] == sorted(["Mai", "ken"])
        assert [person.name for person in users.page(session, "Mai")] == ["ken"]
        assert [owner.id for owner in users.owners(session)] == ["1"], "ken has no way in"
        with pytest.raises(LastOwner):
            users.change(session, "1", role=VIEWER)

    with pytest.raises(LastOwner):
        db.run_now(lambda session: users.change(session, _two(session), role=VIEWER))
    db.run_now(work)


def _two(session: Session) -> str:
    return users.add(session, "0", "only", OWNER, 1, password_hash="h").id


def test_two_owners_who_demote_each_other_leave_one(db: Database) -> None:
    for number in ("1", "2"):
        db.run_now(lambda session, number=number: users.add(session, number, f"n{number}", OWNER, 1, password_hash="h"))
    outcomes: list[str] = []

    def demote(number: str) -> None:
        try:
            db.run_now(lambda session: users.change(session, number, role=VIEWER))
            outcomes.append("done")
        except (LastOwner, StateUnavailable):
            outcomes.append("refused")

    threads = [threading.Thread(target=demote, args=(number,)) for number in ("1", "2")]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(30)
    assert sorted(outcomes) == ["done", "refused"]
    assert len(db.run_now(users.owners)) == 1


def test_second_factors_are_used_once(db: Database) -> None:
    def work(session: Session) -> list[bool]:
        users.add(session, "1", "mai", VIEWER, 1)
        users.set_totp(session, "1", "SECRET", ["a", "b"])
        steps = [users.use_step(session, "1", step) for step in (100, 100, 99, 101)]
        return [*steps, *(users.use_recovery(session, "1", code) for code in ("a", "a", "x"))]

    assert db.run_now(work) == [True, False, False, True, True, False, False]
    person = db.run_now(lambda session: users.get(session, "1"))
    assert person
    assert (person.has_totp, person.recovery_left) == (True, 1)
    assert "SECRET" not in repr(person)


def test_links_are_good_once_and_for_a_time(db: Database) -> None:
    def work(session: Session) -> list[str | None]:
        links.make(session, "old", links.PASSWORD, 1_000, "1")
        links.make(session, "new", links.PASSWORD, 1_000, "1")
        links.make(session, "other", links.PASSWORD, 1_000, "2")
        asked = [("old", 0), ("new", 1_000), ("new", 0), ("other", 0)]
        found = [links.find(session, code, links.PASSWORD, now_ms) for code, now_ms in asked]
        return [*found, *(links.take(session, "new", links.PASSWORD, 0) for _ in range(2))]

    assert db.run_now(work) == [None, None, "1", "2", "1", None]


def test_sessions_of_a_person_are_bounded_and_ended(db: Database) -> None:
    def work(session: Session) -> tuple[int, int]:
        users.add(session, "1", "mai", VIEWER, 1)
        for number in range(sessions.SESSIONS_AT_MOST + 3):
            sessions.add(session, f"s{number}", "1", number)
        assert sessions.find(session, "s0") is None, "the one seen longest ago makes room"
        found = sessions.find(session, "s10")
        assert found
        assert found.person
        assert found.person.name == "mai"
        kept = len(sessions.of_user(session, "1"))
        return kept, sessions.end_all(session, "1", but="s10")

    assert db.run_now(work) == (sessions.SESSIONS_AT_MOST, sessions.SESSIONS_AT_MOST - 1)


def test_tokens_end_and_their_names_come_free(db: Database) -> None:
    def work(session: Session) -> None:
        tokens.add(session, "1", "hash", "shop", ["see"], "mai", 1, 500)
        with pytest.raises(TokenNameTaken):
            tokens.add(session, "2", "other", "shop", ["see"], "mai", 2, None)
        ended = tokens.end(session, "1", 3)
        assert ended
        assert not ended.is_good(3)
        assert tokens.end(session, "none", 3) is None
        tokens.add(session, "2", "other", "shop", ["see"], "mai", 4, None)
        assert [token.id for token in tokens.page(session)] == ["2", "1"]

    db.run_now(work)


def test_the_audit_log_is_read_by_filters(db: Database) -> None:
    def work(session: Session) -> None:
        for number in range(6):
            entry = replace(ENTRY, at_ms=number, who=f"n{number % 2}", target=f"queue:{number % 3}")
            audit.add(session, replace(entry, action="queue.open"))
        audit.add(session, replace(ENTRY, at_ms=9, action="queue_x"))

        def count(**wanted: Any) -> int:
            return len(audit.page(session, Wanted(**wanted), 100))

        assert (count(), count(who="n1"), count(target="queue:0"), count(action="queue.*"), count(from_ms=2, until_ms=4)) == (
            7, 3, 2, 6, 2,
        )  # fmt: skip
        assert count(action="queue_*") == 1, "an underscore stands for itself"
        first = audit.page(session, Wanted(), 3)
        assert [entry.at_ms for entry in audit.page(session, Wanted(), 3, first[-1].id)] == [3, 2, 1]

    db.run_now(work)


def test_the_app_on_postgresql(serve: Serve, bridge: Bridge, cluster: Cluster) -> None:
    admin = serve(bridge.url, database_url=cluster.empty())
    admin.publish(queue_json("sale"))
    admin.start()
    with admin.as_role(OWNER) as browser:
        assert browser.send("/queues/sale", "/queues/sale/pause").status_code == 303
        assert "queue.pause" in browser.get("/audit")
    made = admin.api("POST", "/tokens", json={"name": "x", "scopes": ["see"]}).json()["secret"]
    assert admin.api("GET", "/queues", token=made).status_code == 200
    assert not (admin.settings.admin_dir / "admin.db").exists()
