"""Sign-in at a provider of OpenID Connect: code flow with PKCE and nonce, by the library authlib.

Who may enter: people who were created before, found by the name claim the first time and by issuer and subject ever after; and,
when a role claim is set, whoever has a role there, which then decides their role at each sign-in.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import httpx
from sqlalchemy.orm import Session
from starlette.requests import Request
from starlette.responses import Response

from admin.access import people
from admin.access.actor import Actor
from admin.access.permissions import ROLES
from admin.limits import BadValue
from admin.log import log
from admin.recorder import Recorder
from admin.settings import Oidc
from admin.state import audit, sessions, users
from admin.state.db import Database
from admin.state.users import LastOwner, Person
from admin.words import _

TIMEOUT_S = 10.0
# Clocks of provider and console may differ by so much.
LEEWAY_S = 60


class NotIn(Exception):
    """The provider, or what it says, lets nobody in. The text says why, for the person before the screen."""


class Provider:
    """`unix_s` is the clock of the audit log. Methods raise StateUnavailable and NotIn."""

    def __init__(self, settings: Oidc, db: Database, unix_s: Callable[[], float]) -> None:
        self._settings = settings
        self._db = db
        self._unix_s = unix_s
        self._client: Any = None

    async def leave_for(self, request: Request, callback: str) -> Response:
        """Sends the browser to the provider. State, nonce and PKCE's verifier wait in the signed session cookie."""
        try:
            answer: Response = await self._library().authorize_redirect(request, callback)
        except (httpx.HTTPError, ValueError, KeyError, RuntimeError) as error:
            raise self._away(error) from error
        return answer

    async def come_back(self, request: Request) -> Person:
        """Who came back from the provider. Raises NotIn when anything about it is not as it must be."""
        from authlib.integrations.base_client.errors import OAuthError  # type: ignore[import-untyped]
        from joserfc.errors import JoseError

        wanted = {
            "iss": {"essential": True, "values": [self._settings.issuer]},
            "aud": {"essential": True, "values": [self._settings.client_id]},
            "exp": {"essential": True},
            "sub": {"essential": True},
        }
        try:
            token = await self._library().authorize_access_token(request, claims_options=wanted, leeway=LEEWAY_S)
        except httpx.HTTPError as error:
            raise self._away(error) from error
        except (OAuthError, JoseError, ValueError, KeyError, TypeError, RuntimeError) as error:
            log("oidc refused", error=f"{type(error).__name__}: {error}"[:300])
            raise NotIn(_("The sign-in was broken off or is too old. Begin again.")) from error
        claims = token.get("userinfo")
        if not claims:
            log("oidc refused", error="no id token")
            raise NotIn(_("The provider did not say who you are. Its settings need a look."))
        return await self._person(dict(claims))

    async def _person(self, claims: Mapping[str, Any]) -> Person:
        subject = f"{claims['iss']} {claims['sub']}"
        name, role = self._name(claims), self._role(claims)
        now_ms = int(self._unix_s() * 1000)
        try:
            return await self._db.run(lambda session: self._admit(session, subject, name, role, now_ms))
        except NotIn as error:
            log("oidc refused", name=name, role=role, error=str(error))
            raise

    def _name(self, claims: Mapping[str, Any]) -> str:
        claim = self._settings.name_claim
        value = claims.get(claim)
        # An address that nobody has verified is only what somebody typed.
        verified = claim != "email" or claims.get("email_verified") is True
        return value if isinstance(value, str) and verified else ""

    def _role(self, claims: Mapping[str, Any]) -> str:
        claim = self._settings.role_claim
        if not claim:
            return ""
        value: Any = claims
        # A dotted name leads into objects, as providers nest their roles.
        for part in [claim] if claim in claims else claim.split("."):
            value = value.get(part) if isinstance(value, Mapping) else None
        given: Sequence[Any] = value if isinstance(value, list) else [value]
        found = {self._settings.roles.get(str(each), str(each)) for each in given if each is not None}
        return next((role for role in reversed(list(ROLES)) if role in found), "")

    def _admit(self, session: Session, subject: str, name: str, role: str, now_ms: int) -> Person:
        if self._settings.role_claim and not role:
            raise NotIn(_("Your account has no role in this console. Ask who gives roles at the provider."))
        person = users.by_subject(session, subject) or self._by_name(session, subject, name)
        if person is None:
            person = self._create(session, subject, name, role, now_ms)
        if person.disabled:
            raise NotIn(_("Your account is shut out of this console. Ask an owner."))
        if role and role != person.role:
            person = self._change(session, person, role, now_ms)
        return person

    def _by_name(self, session: Session, subject: str, name: str) -> Person | None:
        person = users.by_name(session, name) if name else None
        if person is None:
            return None
        if person.oidc_subject is not None:
            raise NotIn(_("Somebody else at the provider has this name here. Ask an owner."))
        users.set_subject(session, person.id, subject)
        return person

    def _create(self, session: Session, subject: str, name: str, role: str, now_ms: int) -> Person:
        if not role:
            raise NotIn(_("Nobody has invited you to this console. Ask an owner to create you under your name at the provider."))
        try:
            people.check_name(name)
        except BadValue as error:
            raise NotIn(_("The provider gives no name that can be used here (a verified mail address, by default).")) from error
        person = people.add(session, name, role, now_ms, subject=subject)
        self._note(session, person, now_ms, "person.create", None, {"role": role})
        return person

    def _change(self, session: Session, person: Person, role: str, now_ms: int) -> Person:
        try:
            with session.begin_nested():
                changed = users.change(session, person.id, role=role)
        except LastOwner:
            log("oidc keeps the last owner", name=person.name, role=role)
            return person
        sessions.end_all(session, person.id)
        self._note(session, changed, now_ms, "person.role", {"role": person.role}, {"role": role})
        return changed

    def _note(
        self, session: Session, person: Person, now_ms: int, action: str, before: dict[str, str] | None, after: dict[str, str]
    ) -> None:
        by = Recorder(self._db, Actor(person.name, person.role, "console", frozenset()), now_ms)
        note = f"by {self._settings.name}: {self._settings.role_claim}"
        audit.add(session, by.entry(action, f"person:{person.name}", before, after, note))

    def _away(self, error: Exception) -> NotIn:
        log("oidc provider away", error=f"{type(error).__name__}: {error}"[:300])
        return NotIn(_("The provider does not answer. Sign in with a password, or try again."))

    def _library(self) -> Any:
        if self._client is None:
            # Takes a third of a second to import, and most consoles do without.
            from authlib.integrations.starlette_client import OAuth  # type: ignore[import-untyped]

            self._client = OAuth().register(
                "provider",
                server_metadata_url=f"{self._settings.issuer.rstrip('/')}/.well-known/openid-configuration",
                client_id=self._settings.client_id,
                client_secret=self._settings.client_secret,
                client_kwargs={
                    "scope": self._settings.scope,
                    "code_challenge_method": "S256",
                    "timeout": TIMEOUT_S,
                },
            )
        return self._client
