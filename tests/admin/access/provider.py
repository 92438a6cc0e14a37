"""A stand-in for an OpenID Connect provider that signs real id tokens, and checks PKCE, client and redirect address."""

from __future__ import annotations

import base64
import hashlib
import secrets
import socket
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any
from urllib.parse import urlencode

import jwt
import uvicorn
from cryptography.hazmat.primitives.asymmetric import rsa
from jwt.algorithms import RSAAlgorithm
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import JSONResponse, RedirectResponse, Response
from starlette.routing import Route

CLIENT_ID, CLIENT_SECRET = "console", "client-secret-of-the-tests"


def new_key() -> rsa.RSAPrivateKey:
    return rsa.generate_private_key(public_exponent=65537, key_size=2048)


@dataclass
class StandIn:
    """What it says of whoever signs in: `claims`; what it gets wrong: `lies` (claims that override), `key`, `algorithm`."""

    claims: dict[str, Any] = field(default_factory=dict)
    lies: dict[str, Any] = field(default_factory=dict)
    url: str = ""
    key: rsa.RSAPrivateKey = field(default_factory=new_key)
    foreign_key: rsa.RSAPrivateKey | None = None
    refuses: bool = False
    complaints: list[str] = field(default_factory=list)
    codes: dict[str, dict[str, str]] = field(default_factory=dict)

    async def metadata(self, request: Request) -> Response:
        paths = {"authorization_endpoint": "/authorize", "token_endpoint": "/token", "jwks_uri": "/jwks"}
        return JSONResponse(
            {"issuer": self.url, "id_token_signing_alg_values_supported": ["RS256"], "response_types_supported": ["code"],
             **{name: self.url + path for name, path in paths.items()}}
        )  # fmt: skip

    async def authorize(self, request: Request) -> Response:
        """Everybody says yes at once."""
        query = dict(request.query_params)
        if query.get("code_challenge_method") != "S256" or not query.get("nonce") or query.get("client_id") != CLIENT_ID:
            self.complaints.append(f"authorize: {query}")
        if self.refuses:
            return RedirectResponse(f"{query['redirect_uri']}?{urlencode({'error': 'access_denied', 'state': query['state']})}")
        code = secrets.token_urlsafe(16)
        self.codes[code] = query
        return RedirectResponse(f"{query['redirect_uri']}?{urlencode({'code': code, 'state': query['state']})}")

    async def token(self, request: Request) -> Response:
        form = {name: str(value) for name, value in (await request.form()).items()}
        asked = self.codes.pop(form.get("code", ""), None)
        digest = hashlib.sha256(form.get("code_verifier", "").encode()).digest()
        challenge = base64.urlsafe_b64encode(digest).decode().rstrip("=")
        basic = base64.b64encode(f"{CLIENT_ID}:{CLIENT_SECRET}".encode()).decode()
        if (
            asked is None
            or challenge != asked["code_challenge"]
            or form.get("redirect_uri") != asked["redirect_uri"]
            or request.headers.get("authorization") != f"Basic {basic}"
        ):
            self.complaints.append(f"token: {sorted(form)}")
            return JSONResponse({"error": "invalid_grant"}, 400)
        now_s = int(time.time())
        claims = {"iss": self.url, "aud": CLIENT_ID, "sub": "subject-1", "iat": now_s, "exp": now_s + 300,
                  "nonce": asked["nonce"], **self.claims, **self.lies}  # fmt: skip
        signed = jwt.encode(claims, self.foreign_key or self.key, "RS256", {"kid": "1"})
        return JSONResponse({"access_token": "a", "token_type": "Bearer", "expires_in": 300, "id_token": signed})

    async def jwks(self, request: Request) -> Response:
        public = RSAAlgorithm.to_jwk(self.key.public_key(), as_dict=True)
        return JSONResponse({"keys": [{**public, "kid": "1", "use": "sig", "alg": "RS256"}]})


@contextmanager
def running(stand_in: StandIn) -> Iterator[StandIn]:
    """Serves it on loopback."""
    app = Starlette(
        routes=[
            Route("/.well-known/openid-configuration", stand_in.metadata),
            Route("/authorize", stand_in.authorize),
            Route("/token", stand_in.token, methods=["POST"]),
            Route("/jwks", stand_in.jwks),
        ]
    )
    listener = socket.create_server(("127.0.0.1", 0))
    stand_in.url = f"http://127.0.0.1:{listener.getsockname()[1]}"
    server = uvicorn.Server(uvicorn.Config(app, log_level="warning", lifespan="off"))
    thread = threading.Thread(target=server.run, kwargs={"sockets": [listener]}, daemon=True)
    thread.start()
    try:
        yield stand_in
    finally:
        server.should_exit = True
        thread.join(10)
        listener.close()
