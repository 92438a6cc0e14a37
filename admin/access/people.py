"""What can be done to people: the console, the API and the command line do it through here.

Every deed is in the audit log, in the same transaction. Nobody can give, or take over, more than they may do themselves.
"""

from __future__ import annotations

import re
import secrets
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from sqlalchemy.orm import Session

from admin.access.permissions import ALL, ROLES
from admin.access.sessions import BREAK_GLASS
from admin.hashes import sha256
from admin.limits import BadValue
from admin.recorder import Recorder
from admin.state import audit, links, sessions, users
from admin.state.db import Database
from admin.state.links import PASSWORD
from admin.state.sessions import Found
from admin.state.users import NameTaken, Person
from admin.words import _

LINK_VALID_S = 48 * 3600
# Names stand in addresses, logs and the audit log: no blanks, nothing that looks like another letter of another script.
_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9._@+-]{0,79}")


class UnknownPerson(Exception):
    """Nobody has this id."""

    def __init__(self) -> None:
        super().__init__("nobody has this id")


class Changed(Exception):
    """Somebody changed it since it was read."""


@dataclass(frozen=True)
class Invited:
    """A person, and the code of the link by which they choose a password (shown once)."""

    person: Person
    code: str
    expires_at_ms: int


def check_name(name: str) -> str:
    """The name of a person. Raises BadValue."""
    if not _NAME.fullmatch(name):
        raise BadValue("name", _("is not allowed: 1 to 80 letters, digits and . _ @ + - (an address of mail is fine), no blanks"))
    if name.lower() == BREAK_GLASS:
        raise BadValue("name", _("is kept for the owner whose password is a setting; choose another"))
    return name


def check_role(role: str) -> str:
    """The name of a role. Raises BadValue."""
    if role not in ROLES:
        raise BadValue("role", _("is not one of %(roles)s") % {"roles": ", ".join(ROLES)})
    return role


class People:
    """Every method raises StateUnavailable; those with an id UnknownPerson."""

    def __init__(self, db: Database, unix_s: Callable[[], float]) -> None:
        self._db = db
        self._unix_s = unix_s

    async def page(self, after: str = "", limit: int = 100) -> Sequence[Person]:
        """People by name."""
        return await self._db.read(lambda session: users.page(session, after, limit))

    async def get(self, user_id: str) -> Person:
        """One of them."""
        return await self._db.read(lambda session: _get(session, user_id))

    async def sessions(self, user_id: str) -> list[Found]:
        """Where one of them is signed in."""
        return await self._db.read(lambda session: sessions.of_user(session, user_id))

    async def create(self, by: Recorder, name: str, role: str, *, with_link: bool = True) -> Invited:
        """A new person, with a link by which they choose a password. Raises BadValue, also for a name that is taken."""
        check_name(name)
        _check_grant(by, check_role(role))

        def work(session: Session) -> Invited:
            person = add(session, name, role, self._now_ms())
            _note(session, by, "person.create", person, after={"role": role})
            return self._link(session, person) if with_link else Invited(person, "", 0)

        return await self._db.run(work)

    async def change_role(self, by: Recorder, user_id: str, role: str, revision: int | None = None) -> Person:
        """Gives another role and ends the person's sessions. Raises BadValue, LastOwner, Changed."""
        _check_grant(by, check_role(role))

        def work(session: Session) -> Person:
            before = _get(session, user_id, revision)
            _check_grant(by, before.role)
            if before.role == role:
                return before
            after = users.change(session, user_id, role=role)
            sessions.end_all(session, user_id)
            _note(session, by, "person.role", after, {"role": before.role}, {"role": role})
            return after

        return await self._db.run(work)

    async def set_disabled(self, by: Recorder, user_id: str, disabled: bool, revision: int | None = None) -> Person:
        """Shuts a person out, which ends their sessions, or lets them in again. Raises LastOwner, Changed."""

        def work(session: Session) -> Person:
            before = _get(session, user_id, revision)
            _check_grant(by, before.role)
            if before.disabled == disabled:
                return before
            after = users.change(session, user_id, disabled=disabled)
            if disabled:
                sessions.end_all(session, user_id)
                links.drop(session, PASSWORD, user_id)
            what = "person.disable" if disabled else "person.enable"
            _note(session, by, what, after, {"disabled": before.disabled}, {"disabled": disabled})
            return after

        return await self._db.run(work)

    async def end_sessions(self, by: Recorder, user_id: str) -> int:
        """Signs a person out everywhere; returns of how many browsers."""

        def work(session: Session) -> int:
            person = _get(session, user_id)
            ended = sessions.end_all(session, user_id)
            _note(session, by, "person.end_sessions", person, after={"ended": ended})
            return ended

        return await self._db.run(work)

    async def new_link(self, by: Recorder, user_id: str, *, drop_totp: bool = False) -> Invited:
        """A link by which the person chooses a new password; those before it are void. `drop_totp`: who lost the device."""

        def work(session: Session) -> Invited:
            person = _get(session, user_id)
            _check_grant(by, person.role)
            if drop_totp and person.has_totp:
                users.set_totp(session, user_id, "", ())
                sessions.end_all(session, user_id)
            _note(session, by, "person.link", person, after={"second_factor_dropped": drop_totp and person.has_totp})
            return self._link(session, person)

        return await self._db.run(work)

    def _link(self, session: Session, person: Person) -> Invited:
        code, expires_at_ms = secrets.token_urlsafe(24), self._now_ms() + LINK_VALID_S * 1000
        links.make(session, sha256(code), PASSWORD, expires_at_ms, person.id)
        return Invited(person, code, expires_at_ms)

    def _now_ms(self) -> int:
        return int(self._unix_s() * 1000)


def add(session: Session, name: str, role: str, now_ms: int, *, password_hash: str = "", subject: str | None = None) -> Person:
    """A new person under a new id. Raises BadValue for a name that is taken."""
    try:
        user_id = secrets.token_hex(6)
        return users.add(session, user_id, name, role, now_ms, password_hash=password_hash, oidc_subject=subject)
    except NameTaken:
        raise BadValue("name", _("is taken; names are not given twice")) from None


def _check_grant(by: Recorder, role: str) -> None:
    more = ROLES.get(role, ALL) - by.who.permissions
    if more:
        lacking = ", ".join(sorted(more))
        says = _("%(role)s may do more than you (%(more)s), so it takes somebody who may do that to change this")
        raise BadValue("role", says % {"role": role, "more": lacking})


def _get(session: Session, user_id: str, revision: int | None = None) -> Person:
    person = users.get(session, user_id)
    if person is None:
        raise UnknownPerson
    if revision is not None and person.revision != revision:
        raise Changed
    return person


def _note(
    session: Session, by: Recorder, action: str, person: Person, before: dict[str, object] | None = None,
    after: dict[str, object] | None = None,
) -> None:  # fmt: skip
    audit.add(session, by.entry(action, f"person:{person.name}", before, after))
