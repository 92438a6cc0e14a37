"""`stanchion admin`: people and the database from the command line."""

from __future__ import annotations

from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from admin.access import passwords
from admin.state import audit, users
from admin.state.audit import Wanted
from admin.state.db import Database
from cli.main import main

PASSWORD = "a long enough password\n"


@pytest.fixture
def run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> CliRunner:
    monkeypatch.setenv("STANCHION_ADMIN_DIR", str(tmp_path / "admin"))
    monkeypatch.delenv("UPSTASH_REDIS_REST_TOKEN", raising=False)
    return CliRunner()


def invoke(run: CliRunner, *arguments: str, typed: str = "") -> Result:
    return run.invoke(main, ["admin", *arguments], input=typed)


def test_the_first_owner_and_a_lost_password(run: CliRunner, tmp_path: Path) -> None:
    assert invoke(run, "create-owner", "mai", typed=PASSWORD).output == "mai is an owner\n"
    assert "taken" in invoke(run, "create-owner", "MAI", typed=PASSWORD).output
    assert "12 to 1000" in invoke(run, "create-owner", "ken", typed="short\n").output
    assert "not allowed" in invoke(run, "create-owner", "two words", typed=PASSWORD).output
    db = Database(f"sqlite:///{tmp_path / 'admin' / 'admin.db'}")
    try:
        person = db.run_now(lambda session: users.by_name(session, "mai"))
        assert person
        assert passwords.matches(person.password_hash, PASSWORD.strip())
        db.run_now(lambda session: users.set_totp(session, person.id, "SECRET", ["x"]))
        assert invoke(run, "reset-password", "mai", typed="another long password\n").exit_code == 0
        again = db.run_now(lambda session: users.by_name(session, "mai"))
        assert again
        assert (again.has_totp, passwords.matches(again.password_hash, "another long password")) == (False, True)
        found = db.run_now(lambda session: audit.page(session, Wanted(), 10))
        assert [(entry.who, entry.via, entry.action) for entry in found] == [
            ("mai", "command line", "person.password"), ("mai", "command line", "person.create"),
        ]  # fmt: skip
    finally:
        db.close()
    assert "nobody has the name" in invoke(run, "reset-password", "yuki", typed=PASSWORD).output


def test_migrate_says_whether_anything_was_to_do(run: CliRunner) -> None:
    assert invoke(run, "migrate").output == "brought up to date\n"
    assert invoke(run, "migrate").output == "nothing to do\n"


def test_a_database_that_cannot_be_is_one_sentence(run: CliRunner, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("STANCHION_ADMIN_DATABASE_URL", "mysql://x/y")
    failed = invoke(run, "migrate")
    assert (failed.exit_code, failed.output.count("\n")) == (1, 1)
    assert "Allowed: sqlite or postgresql" in failed.output


def test_hash_password(run: CliRunner) -> None:
    assert passwords.matches(invoke(run, "hash-password", typed=PASSWORD).output.strip(), PASSWORD.strip())
    assert "12 to 1000" in invoke(run, "hash-password", typed="x\n").output
