"""/.stanchion/<queue>/invite: an invitation link becomes a candidate's cookie for its lane, and leads on into the site."""

from __future__ import annotations

from edge.core import answers, identity
from edge.core.errors import TokenError
from edge.core.identity import Visitor
from edge.core.invites import line_of, query_of, read_invite, safe_path
from edge.core.messages import Context, Request, Respond
from edge.core.token_header import handed


def invited(visitor: Visitor, request: Request, context: Context) -> Respond:
    """The answer to an invitation link, `?t=<signed text>&to=<path of this site>`.

    Who has a place or is inside already just goes on: a link never costs anybody a place.
    """
    queue, query = visitor.queue, query_of(request.target)
    path = safe_path(query.get("to", queue.routes[0].path.removesuffix("*")))
    if path is None:
        return answers.problem(request, 400, "bad request", "to: a path of this site was expected, one that starts with one /")
    try:
        invite = read_invite(context.ring, query.get("t", ""), queue.id)
    except TokenError:
        return answers.problem(request, 403, "forbidden", "this is no invitation to this queue")
    line = line_of(queue, invite)
    if line is None or invite.expires_ms <= request.now_ms:
        why = "has run out" if line is not None else f"is for a lane that is not open to invitations: {invite.lane[:40]}"
        return answers.problem(request, 410, "gone", f"this invitation {why}")
    if visitor.rank >= 2:
        return _onward(path, request, (), f"invited to {invite.lane}, in line already")
    known = visitor.candidate.visitor if visitor.candidate else ""
    cookie = identity.candidate_cookie(queue, request, context, known, line=line, invite=invite.id)
    return _onward(path, request, (cookie,), f"invited to {invite.lane}")


def _onward(path: str, request: Request, set_cookies: tuple[str, ...], why: str) -> Respond:
    return Respond(303, (("Location", path), *answers.NO_STORE, *handed(request, set_cookies)), "", why)
