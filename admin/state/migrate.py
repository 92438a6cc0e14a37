"""Brings the database to the schema of this program, under a lock: of several that start at once one does it, the others wait."""

from __future__ import annotations

from pathlib import Path

from alembic import command
from alembic.config import Config
from alembic.runtime.migration import MigrationContext
from alembic.script import ScriptDirectory
from alembic.util import CommandError
from sqlalchemy import Connection, text
from sqlalchemy.exc import InterfaceError, OperationalError, ProgrammingError

from admin.state.db import Database, StateError

MIGRATIONS = Path(__file__).with_name("migrations")
# Any number that nobody else on the server uses.
_LOCK = 7_823_641_902


def _config() -> Config:
    config = Config()
    config.set_main_option("script_location", str(MIGRATIONS).replace("%", "%%"))
    return config


def newest() -> str:
    """The revision that this program wants."""
    return ScriptDirectory.from_config(_config()).get_current_head() or ""


def migrate(database: Database) -> bool:
    """Brings the schema up to date; whether anything was to do. Raises StateError."""
    try:
        with database.engine.begin() as connection:
            return _migrate(connection)
    except (OperationalError, InterfaceError, ProgrammingError) as error:
        reason = " ".join(str(error.orig or error).split())[:200]
        raise StateError(f"the admin's own database cannot be used: {reason}") from error
    except CommandError as error:
        raise StateError(
            f"the admin's own database is of another version than this program: {error}."
            " Run the newer program, or restore a backup"
        ) from error


def _migrate(connection: Connection) -> bool:
    if connection.dialect.name == "postgresql":
        connection.execute(text("SELECT pg_advisory_xact_lock(:lock)"), {"lock": _LOCK})
    if MigrationContext.configure(connection).get_current_revision() == newest():
        return False
    config = _config()
    config.attributes["connection"] = connection
    command.upgrade(config, "head")
    return True
