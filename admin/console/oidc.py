"""Signing in at a provider: to it and back."""

from __future__ import annotations

from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from admin.access.forms import HOME, safe_next
from admin.access.needs import public
from admin.access.oidc import NotIn, Provider
from admin.console.render import error_page
from admin.console.sign_in import SIGN_IN, form_page, signed_in
from admin.desk import desk
from admin.words import _

BEGIN, CALLBACK = "/oidc/sign-in", "/oidc/callback"
_NEXT = "oidc_next"


@public("leads to the provider of sign-ins")
async def begin(request: Request) -> Response:
    """To the provider. A link and not a form: a form may lead to no other site (form-action)."""
    provider = desk(request).provider
    if provider is None:
        return _none(request)
    try:
        answer = await provider.leave_for(request, f"{str(request.base_url).rstrip('/')}{CALLBACK}")
    except NotIn as error:
        return form_page(request, 502, error=str(error))
    request.session[_NEXT] = safe_next(request.query_params.get("next", ""))
    return answer


@public("checks what the provider says: state, code with PKCE, signature, nonce")
async def come_back(request: Request) -> Response:
    """From the provider."""
    provider: Provider | None = desk(request).provider
    if provider is None:
        return _none(request)
    try:
        person = await provider.come_back(request)
    except NotIn as error:
        return form_page(request, 401, error=str(error))
    return await signed_in(request, person, safe_next(str(request.session.get(_NEXT, HOME))), note="by the provider")


def _none(request: Request) -> Response:
    return error_page(request, 404, _("No provider"), _("This console signs in with name and password only."), back=SIGN_IN)


ROUTES = [Route(BEGIN, begin, methods=["GET"]), Route(CALLBACK, come_back, methods=["GET"])]
