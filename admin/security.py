"""What every answer carries and every request passes: security headers, and the session cookie for http or https."""

from __future__ import annotations

from starlette.datastructures import MutableHeaders
from starlette.middleware.sessions import SessionMiddleware
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from admin.access.sessions import SESSION_IDLE_S

# No inline script or style, nothing from elsewhere, in no frame.
CONTENT_SECURITY_POLICY = (
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; connect-src 'self'; form-action 'self';"
    " base-uri 'none'; frame-ancestors 'none'"
)
HEADERS = {
    "Content-Security-Policy": CONTENT_SECURITY_POLICY,
    "X-Frame-Options": "DENY",
    "X-Content-Type-Options": "nosniff",
    # Not no-referrer: browsers would then send Origin: null with our own forms.
    "Referrer-Policy": "same-origin",
    "Cross-Origin-Opener-Policy": "same-origin",
    "Cross-Origin-Resource-Policy": "same-origin",
}
# Of a page of ours that shows a preview in a frame.
FRAMING_POLICY = f"{CONTENT_SECURITY_POLICY}; frame-src 'self'"
STATIC_PREFIX = "/static/"


class SecurityHeaders:
    """Sets HEADERS on every answer that does not bring its own, and `no-store` on all but static files."""

    def __init__(self, app: ASGIApp) -> None:
        self.app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """An ASGI application."""
        if scope["type"] != "http":
            await self.app(scope, receive, send)
            return

        async def with_headers(message: Message) -> None:
            if message["type"] == "http.response.start":
                headers = MutableHeaders(scope=message)
                for name, value in HEADERS.items():
                    # A page that shows another in a frame, and that other, bring a policy of their own.
                    headers.setdefault(name, value)
                if scope["path"].startswith(STATIC_PREFIX) and message["status"] in (200, 304):
                    headers["Cache-Control"] = "no-cache"
                else:
                    headers["Cache-Control"] = "no-store"
                if scope["scheme"] == "https":
                    headers["Strict-Transport-Security"] = "max-age=31536000"
            await send(message)

        await self.app(scope, receive, with_headers)


class SessionCookies:
    """The session in a signed cookie: HttpOnly, SameSite=Lax, and over https Secure and bound to this host alone."""

    def __init__(self, app: ASGIApp, secret: str) -> None:
        self._http = SessionMiddleware(app, secret, "stanchion_admin", SESSION_IDLE_S)
        self._https = SessionMiddleware(app, secret, "__Host-stanchion_admin", SESSION_IDLE_S, https_only=True)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """An ASGI application."""
        layer = self._https if scope.get("scheme") == "https" else self._http
        await layer(scope, receive, send)
