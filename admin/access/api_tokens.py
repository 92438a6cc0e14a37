"""Tokens of the API: made, shown once, listed and ended. Only their hash is kept."""

from __future__ import annotations

import secrets
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from sqlalchemy.orm import Session

from admin.access.permissions import ALL
from admin.hashes import sha256
from admin.limits import BadValue
from admin.recorder import Recorder
from admin.state import audit, tokens
from admin.state.db import Database
from admin.state.tokens import Token, TokenNameTaken
from admin.words import _
from edge.core.moments import moment_text

NAME_MAX = 60
DAYS_AT_MOST = 3660
# So that one that leaked can be recognised for what it is.
PREFIX = "stn_"


class UnknownToken(Exception):
    """No token has this id."""

    def __init__(self) -> None:
        super().__init__("no token has this id")


@dataclass(frozen=True)
class Made:
    """A new token and its secret, which nobody can show again."""

    token: Token
    secret: str


class ApiTokens:
    """Every method raises StateUnavailable."""

    def __init__(self, db: Database, unix_s: Callable[[], float]) -> None:
        self._db = db
        self._unix_s = unix_s

    async def page(self) -> Sequence[Token]:
        """All of them, the newest first, ended ones too."""
        return await self._db.read(tokens.page)

    async def make(self, by: Recorder, name: str, scopes: Sequence[str], days: int | None) -> Made:
        """A token with these scopes for so many days (None: until it is ended). Raises BadValue."""
        if not 1 <= len(name) <= NAME_MAX or not name.isprintable() or name != name.strip():
            says = _("must be 1 to %(most)s visible characters, such as the program that will use it")
            raise BadValue("name", says % {"most": NAME_MAX})
        chosen = _check_scopes(by, scopes)
        if days is not None and not 1 <= days <= DAYS_AT_MOST:
            raise BadValue("days", _("must be a whole number from 1 to %(most)s, or nothing for no end") % {"most": DAYS_AT_MOST})
        secret, now_ms = PREFIX + secrets.token_urlsafe(32), int(self._unix_s() * 1000)
        expires_at_ms = None if days is None else now_ms + days * 86_400_000

        def work(session: Session) -> Token:
            made = tokens.add(
                session, secrets.token_hex(6), sha256(secret), name, chosen, by.who.name, now_ms, expires_at_ms
            )  # fmt: skip
            ends = None if expires_at_ms is None else moment_text(expires_at_ms)
            audit.add(session, by.entry("token.create", f"token:{name}", after={"scopes": chosen, "expires_at": ends}))
            return made

        try:
            return Made(await self._db.run(work), secret)
        except TokenNameTaken:
            raise BadValue("name", _("is taken by a token that is good; end that one, or choose another name")) from None

    async def end(self, by: Recorder, token_id: str) -> Token:
        """Ends a token at once; one that was ended stays as it is. Raises UnknownToken."""

        def work(session: Session) -> Token:
            before = tokens.get(session, token_id)
            ended = tokens.end(session, token_id, int(self._unix_s() * 1000))
            if before is None or ended is None:
                raise UnknownToken
            if before.ended_at_ms is None:
                audit.add(session, by.entry("token.end", f"token:{ended.name}"))
            return ended

        return await self._db.run(work)


def _check_scopes(by: Recorder, scopes: Sequence[str]) -> list[str]:
    for scope in scopes:
        if scope not in ALL:
            raise BadValue("scopes", _("are not all known; there are %(scopes)s") % {"scopes": ", ".join(sorted(ALL))})
        if not by.who.may(scope):
            raise BadValue("scopes", _("are more than you may do yourself: %(scope)s") % {"scope": scope})
    if not scopes:
        raise BadValue("scopes", _("must be at least one of %(scopes)s") % {"scopes": ", ".join(sorted(ALL))})
    return sorted(set(scopes))
