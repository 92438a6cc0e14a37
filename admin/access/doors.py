"""The ways in: a name with its password and second factor, and links that are good once."""

from __future__ import annotations

import asyncio
import secrets
from collections.abc import Callable
from dataclasses import dataclass

from sqlalchemy.orm import Session

from admin.access import passwords, people
from admin.access.actor import Actor, Via
from admin.access.permissions import ALL, OWNER
from admin.access.sessions import BREAK_GLASS
from admin.credentials import Credentials
from admin.hashes import sha256
from admin.recorder import Recorder
from admin.state import audit, links, sessions, users
from admin.state.db import Database
from admin.state.links import FIRST, PASSWORD
from admin.state.users import Person

# One argon2 check takes 64 MiB, so few run at a time.
PASSWORD_CHECKS_AT_ONCE = 2
FIRST_VALID_S = 7 * 86_400


class VoidLink(Exception):
    """The link was used, has expired, or never was."""


@dataclass(frozen=True)
class Known:
    """Whose name and password these are; `person` None: the owner by setting."""

    person: Person | None


class Doors:
    """Methods raise StateUnavailable; those with a link VoidLink."""

    def __init__(self, db: Database, credentials: Credentials, unix_s: Callable[[], float]) -> None:
        self._db = db
        self._credentials = credentials
        self._unix_s = unix_s
        self._checking = asyncio.Semaphore(PASSWORD_CHECKS_AT_ONCE)

    async def check(self, name: str, password: str) -> Known | None:
        """Who this is, or None. Takes as long for a name that nobody has."""
        if name == BREAK_GLASS:
            fits = await self._matches(self._credentials.password_hash, password)
            return Known(None) if fits else None
        person = await self._db.read(lambda session: users.by_name(session, name))
        fits = await self._matches(person.password_hash if person else "", password)
        return Known(person) if person and fits and not person.disabled else None

    async def is_password_of(self, person: Person, password: str) -> bool:
        """Whether this is the password of somebody who is signed in already."""
        return await self._matches(person.password_hash, password)

    async def hash_password(self, password: str) -> str:
        """The hash to keep. Raises ValueError when the password is too short or too long."""
        async with self._checking:
            return await asyncio.to_thread(passwords.hash_password, password)

    async def person_of_link(self, code: str) -> Person:
        """Whose link for a new password this is; it stays good."""

        def work(session: Session) -> Person | None:
            user_id = links.find(session, sha256(code), PASSWORD, self._now_ms())
            return users.get(session, user_id) if user_id else None

        person = await self._db.read(work)
        if person is None or person.disabled:
            raise VoidLink
        return person

    async def use_link(self, code: str, password: str) -> Person:
        """Sets the password of the link's person and signs them out everywhere. Raises ValueError for a bad password."""
        password_hash = await self.hash_password(password)

        def work(session: Session) -> Person | None:
            user_id = links.take(session, sha256(code), PASSWORD, self._now_ms())
            person = users.get(session, user_id) if user_id else None
            if person is None or person.disabled:
                return None
            users.set_password(session, person.id, password_hash)
            sessions.end_all(session, person.id)
            by = Recorder(self._db, Actor(person.name, person.role, "console", frozenset()), self._now_ms())
            audit.add(session, by.entry("person.password", f"person:{person.name}", note="by a link"))
            return person

        person = await self._db.run(work)
        if person is None:
            raise VoidLink
        return person

    def first_link(self) -> str:
        """The code of a link by which the first owner is made; one from before is void. For the start of the app."""
        code = secrets.token_urlsafe(24)
        expires_at_ms = self._now_ms() + FIRST_VALID_S * 1000
        self._db.run_now(lambda session: links.make(session, sha256(code), FIRST, expires_at_ms))
        return code

    async def is_first(self, code: str) -> bool:
        """Whether the link for the first owner is good."""
        return await self._db.read(lambda session: links.find(session, sha256(code), FIRST, self._now_ms())) is not None

    async def make_first(self, code: str, name: str, password: str) -> Person:
        """Makes the first owner. Raises BadValue for a name that cannot be, ValueError for a bad password."""
        people.check_name(name)
        password_hash = await self.hash_password(password)

        def work(session: Session) -> Person | None:
            if links.take(session, sha256(code), FIRST, self._now_ms()) is None:
                return None
            return self._owner(session, name, password_hash, "console")

        person = await self._db.run(work)
        if person is None:
            raise VoidLink
        return person

    def create_owner(self, name: str, password: str) -> Person:
        """Makes an owner from the command line. Raises BadValue, ValueError."""
        people.check_name(name)
        password_hash = passwords.hash_password(password)
        return self._db.run_now(lambda session: self._owner(session, name, password_hash, "command line"))

    def reset(self, person: Person, password_hash: str) -> None:
        """Sets a password from the command line, drops the second factor and ends every session."""

        def work(session: Session) -> None:
            users.set_password(session, person.id, password_hash)
            users.set_totp(session, person.id, "", ())
            sessions.end_all(session, person.id)
            links.drop(session, PASSWORD, person.id)
            by = Recorder(self._db, Actor(person.name, person.role, "command line", ALL), self._now_ms())
            audit.add(session, by.entry("person.password", f"person:{person.name}", note="second factor dropped"))

        self._db.run_now(work)

    def _owner(self, session: Session, name: str, password_hash: str, via: Via) -> Person:
        person = people.add(session, name, OWNER, self._now_ms(), password_hash=password_hash)
        by = Recorder(self._db, Actor(name, OWNER, via, ALL), self._now_ms())
        audit.add(session, by.entry("person.create", f"person:{name}", after={"role": OWNER}))
        return person

    async def _matches(self, password_hash: str, password: str) -> bool:
        async with self._checking:
            return await asyncio.to_thread(passwords.matches, password_hash, password)

    def _now_ms(self) -> int:
        return int(self._unix_s() * 1000)
