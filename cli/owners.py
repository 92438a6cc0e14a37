"""`stanchion admin create-owner|reset-password|migrate|hash-password`: what is done from the machine that the admin runs on."""

from __future__ import annotations

import os
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager

import click

from admin.access import passwords
from admin.access.doors import Doors
from admin.app import database_of, open_database
from admin.credentials import Credentials
from admin.limits import BadValue
from admin.settings import Settings, SettingsError, load
from admin.state import users
from admin.state.db import Database, StateError, StateUnavailable
from admin.state.migrate import migrate as bring_up_to_date


@click.command()
@click.argument("name")
def create_owner(name: str) -> None:
    """Make an owner who signs in with NAME and a password, which is asked for (or one line of standard input).

    The way to begin where no password is a setting, and the way back in when nobody has one.
    """
    with _database() as db:
        try:
            Doors(db, Credentials("", "", ""), time.time).create_owner(name, _password())
        except (BadValue, ValueError) as error:
            raise click.ClickException(str(error)) from error
        click.echo(f"{name} is an owner")


@click.command()
@click.argument("name")
def reset_password(name: str) -> None:
    """Set the password of NAME, and drop the second factor: for who has lost both."""
    with _database() as db:
        person = db.run_now(lambda session: users.by_name(session, name))
        if person is None:
            raise click.ClickException(f"nobody has the name {name!r}")
        try:
            password_hash = passwords.hash_password(_password())
        except ValueError as error:
            raise click.ClickException(str(error)) from error
        Doors(db, Credentials("", "", ""), time.time).reset(person, password_hash)
        click.echo(f"{name} signs in with the new password; every session is over")


@click.command()
def migrate() -> None:
    """Bring the admin app's database to the schema of this program; the app does so itself when it starts."""
    with _database(at_once=False) as db:
        done = bring_up_to_date(db)
        click.echo("brought up to date" if done else "nothing to do")


@click.command()
def hash_password() -> None:
    """Print the hash of a password, for STANCHION_ADMIN_PASSWORD_HASH; keep it in single quotes."""
    try:
        click.echo(passwords.hash_password(_password()))
    except ValueError as error:
        raise click.ClickException(str(error)) from error


@contextmanager
def _database(*, at_once: bool = True) -> Iterator[Database]:
    try:
        settings = _settings()
        db = open_database(settings) if at_once else database_of(settings)
    except (SettingsError, StateError) as error:
        raise click.ClickException(str(error)) from error
    try:
        yield db
    except (StateError, StateUnavailable) as error:
        raise click.ClickException(str(error)) from error
    finally:
        db.close()


def _settings() -> Settings:
    # The database needs no Redis.
    return load({**os.environ, "UPSTASH_REDIS_REST_TOKEN": os.environ.get("UPSTASH_REDIS_REST_TOKEN", "") or "none"})


def _password() -> str:
    if sys.stdin.isatty():
        given: str = click.prompt("Password", hide_input=True, confirmation_prompt="Again")
        return given
    return sys.stdin.readline().rstrip("\r\n")


OWNER_COMMANDS = (create_owner, reset_password, migrate, hash_password)
