"""What people do to their own account: password, second factor, sessions, language and time zone."""

from __future__ import annotations

import secrets
import zoneinfo
from collections.abc import Callable

from sqlalchemy.orm import Session

from admin.access import totp
from admin.access.actor import Actor
from admin.hashes import sha256
from admin.limits import BadValue
from admin.recorder import Recorder
from admin.state import audit, links, sessions, users
from admin.state.db import Database
from admin.state.links import PASSWORD
from admin.state.sessions import Found
from admin.state.users import Person
from admin.words import LANGUAGES, _

RECOVERY_CODES = 10
# No 0/o, 1/l/i: these are written on paper.
_ALPHABET = "abcdefghjkmnpqrstuvwxyz23456789"


class Account:
    """Of who asks. Every method raises StateUnavailable."""

    def __init__(self, db: Database, unix_s: Callable[[], float]) -> None:
        self._db = db
        self._unix_s = unix_s

    async def person(self, who: Actor) -> Person | None:
        """The row of who asks; None for the owner by setting."""
        return await self._db.read(lambda session: users.get(session, who.user_id)) if who.user_id else None

    async def sessions(self, who: Actor) -> list[Found]:
        """Where one is signed in, the latest seen first."""
        return await self._db.read(lambda session: sessions.of_user(session, who.user_id))

    async def end_session(self, by: Recorder, who: Actor, id_sha256: str) -> None:
        """Ends one's own session in some browser."""

        def work(session: Session) -> None:
            if any(found.id_sha256 == id_sha256 for found in sessions.of_user(session, who.user_id)):
                sessions.end(session, id_sha256)
                audit.add(session, by.entry("session.end", f"person:{who.name}"))

        await self._db.run(work)

    async def set_password(self, by: Recorder, who: Actor, password_hash: str) -> None:
        """A new password; every other session ends."""

        def work(session: Session) -> None:
            users.set_password(session, who.user_id, password_hash)
            links.drop(session, PASSWORD, who.user_id)
            sessions.end_all(session, who.user_id, but=who.session)
            audit.add(session, by.entry("person.password", f"person:{who.name}"))

        await self._db.run(work)

    async def begin_totp(self, by: Recorder, who: Actor, secret: str, code: str) -> list[str]:
        """Asks for a second factor from now on, once a code has shown that the device has the secret; returns recovery codes.

        Raises BadValue.
        """
        step = totp.step_of(secret, code, self._unix_s())
        if step is None:
            raise BadValue("code", _("does not fit; the clock of the device must be right"))
        codes = new_recovery_codes()

        def work(session: Session) -> None:
            users.set_totp(session, who.user_id, secret, [sha256(each) for each in codes])
            users.use_step(session, who.user_id, step)
            sessions.end_all(session, who.user_id, but=who.session)
            audit.add(session, by.entry("person.second_factor", f"person:{who.name}", {"asked": False}, {"asked": True}))

        await self._db.run(work)
        return codes

    async def end_totp(self, by: Recorder, who: Actor) -> None:
        """Asks for no second factor any more."""

        def work(session: Session) -> None:
            users.set_totp(session, who.user_id, "", ())
            audit.add(session, by.entry("person.second_factor", f"person:{who.name}", {"asked": True}, {"asked": False}))

        await self._db.run(work)

    async def new_recovery(self, by: Recorder, who: Actor) -> list[str]:
        """New recovery codes; those before are void."""
        codes = new_recovery_codes()

        def work(session: Session) -> None:
            users.set_recovery(session, who.user_id, [sha256(each) for each in codes])
            audit.add(session, by.entry("person.recovery_codes", f"person:{who.name}"))

        await self._db.run(work)
        return codes

    async def is_second_factor(self, person: Person, code: str) -> bool:
        """Whether this is the person's code of now, or one of their recovery codes; uses it up."""
        step = totp.step_of(person.totp_secret, code, self._unix_s())
        if step is not None:
            return await self._db.run(lambda session: users.use_step(session, person.id, step))
        plain = code.strip().lower().replace("-", "").replace(" ", "")
        return bool(plain) and await self._db.run(lambda session: users.use_recovery(session, person.id, sha256(plain)))

    async def set_preferences(self, who: Actor, language: str, zone: str) -> None:
        """Language (a key of LANGUAGES) and time zone (IANA; empty: the browser's). Raises BadValue."""
        if language not in LANGUAGES:
            raise BadValue("language", _("is not one of %(languages)s") % {"languages": ", ".join(LANGUAGES)})
        if zone and zone not in zoneinfo.available_timezones():
            raise BadValue("zone", _("is no time zone; one is Asia/Tokyo"))
        if who.user_id:
            await self._db.run(lambda session: users.set_preferences(session, who.user_id, language=language, zone=zone))


def new_recovery_codes() -> list[str]:
    """Codes for who has lost the device: ten letters and digits each, 49 bits."""
    return ["".join(secrets.choice(_ALPHABET) for _ in range(10)) for _ in range(RECOVERY_CODES)]
