"""Signed-in browsers. The cookie holds a random id (signed, with the form token); who it is stands in the database.

A session ends SESSION_IDLE_S after the last page or action (automatic polling does not prolong it), by signing out, and with
every change of the password or the role of its person.
"""

from __future__ import annotations

from sqlalchemy.orm import Session
from starlette.requests import Request

from admin.access.actor import Actor
from admin.access.forms import new_token
from admin.access.permissions import ALL, OWNER, ROLES
from admin.hashes import sha256
from admin.state import sessions as table
from admin.state.db import Database
from admin.state.sessions import Found

SESSION_IDLE_S = 8 * 3600
# The database and the cookie are written again at most this often.
SESSION_TOUCH_S = 300
# The name of the owner whose password is a setting; nobody else can have it.
BREAK_GLASS = "admin"


class Sessions:
    """`fingerprint`: of the password that is a setting; its sessions end when that changes. Methods raise StateUnavailable."""

    def __init__(self, db: Database, fingerprint: str) -> None:
        self._db = db
        self._fingerprint = fingerprint

    async def sign_in(self, request: Request, user_id: str, now_s: float) -> None:
        """Begins a session; nothing of the one before is kept. `user_id` empty: the owner whose password is a setting."""
        await self._end(request)
        session_id = new_token()
        address = request.client.host if request.client else ""
        browser = request.headers.get("user-agent", "")[:300]
        proof = "" if user_id else self._fingerprint
        now_ms = int(now_s * 1000)

        def work(session: Session) -> None:
            table.end_before(session, now_ms - SESSION_IDLE_S * 1000)
            table.add(session, sha256(session_id), user_id, now_ms, address=address, browser=browser, proof=proof)

        await self._db.run(work)
        request.session.clear()
        request.session.update(id=session_id, at=int(now_s), csrf=new_token())

    async def sign_out(self, request: Request) -> None:
        """Ends the session here and for every copy of its cookie."""
        await self._end(request)
        request.session.clear()

    async def find(self, request: Request, now_s: float) -> Actor | None:
        """Who is signed in on this request, or None."""
        session_id = request.session.get("id")
        if not isinstance(session_id, str):
            return None
        hashed = sha256(session_id)
        found = await self._db.read(lambda session: table.find(session, hashed))
        if found is None or now_s * 1000 - found.seen_at_ms > SESSION_IDLE_S * 1000:
            return None
        return self._actor(found, hashed)

    async def touch(self, request: Request, who: Actor, now_s: float) -> None:
        """A sign of life."""
        if now_s * 1000 - who.seen_at_ms <= SESSION_TOUCH_S * 1000:
            return
        request.session["at"] = int(now_s)
        await self._db.run(lambda session: table.touch(session, who.session, who.user_id, int(now_s * 1000)))

    async def _end(self, request: Request) -> None:
        session_id = request.session.get("id")
        if isinstance(session_id, str):
            await self._db.run(lambda session: table.end(session, sha256(session_id)))

    def _actor(self, found: Found, hashed: str) -> Actor | None:
        if found.person is None:
            is_owner = not found.user_id and self._fingerprint and found.proof == self._fingerprint
            if not is_owner:
                return None
            return Actor(BREAK_GLASS, OWNER, "console", ALL, session=hashed, seen_at_ms=found.seen_at_ms)
        person = found.person
        if person.disabled:
            return None
        return Actor(
            person.name, person.role, "console", ROLES.get(person.role, frozenset()), person.id, hashed, found.seen_at_ms,
            person.language, person.zone,
        )  # fmt: skip
