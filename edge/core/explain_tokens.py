"""What `explain` says of the tokens that a request carries: good, run out, of elsewhere, or why they prove nothing."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from edge.core import cookies
from edge.core.errors import TokenError
from edge.core.explain_words import Step
from edge.core.messages import Context, Request
from edge.core.model import Queue
from edge.core.token_header import NAME, jar_of
from edge.core.tokens import Candidate, Pass, Token

SHOWN_AT_MOST = 20


def tokens_seen(request: Request, context: Context, queues: Sequence[Queue], *, keys_known: bool) -> Iterator[Step]:
    """A step for each value under a name of ours, whichever queue it is for."""
    jar = jar_of(request, context)
    if not jar.has_tokens:
        yield Step("no_token")
        return
    if not keys_known:
        yield Step("no_keys")
        return
    named = [(NAME, value) for value in jar.tokens] if jar.tokens is not None else [
        (name, value) for name, values in jar.ours.items() if name != cookies.LANGUAGE_COOKIE for value in values
    ]  # fmt: skip
    if not named:
        yield Step("no_token")
    for name, value in named[:SHOWN_AT_MOST]:
        yield _seen(name, value, request, context, queues)


def _seen(name: str, value: str, request: Request, context: Context, queues: Sequence[Queue]) -> Step:
    scopes = dict.fromkeys(queue.scope for queue in context.config.queues)
    try:
        token = _read(value, context, [*dict.fromkeys(queue.scope for queue in queues), *scopes])
    except TokenError as error:
        return Step("token_bad", {"name": name, "problem": str(error)})
    kind = "candidate's cookie" if isinstance(token, Candidate) else "pass" if isinstance(token, Pass) else "place"
    values = {"kind": kind, "scope": token.scope}
    owners = [queue for queue in queues if queue.scope == token.scope]
    if not owners:
        return Step("token_elsewhere", values)
    is_candidate = isinstance(token, Candidate)
    if name not in (NAME, *(cookies.cookie_name(queue, request.scheme, candidate=is_candidate) for queue in owners)):
        return Step("token_bad", {"name": name, "problem": "this is not the name under which the queue looks for it"})
    return Step("token_good" if token.expires_ms > context.now_ms(request, token.scope) else "token_expired", values)


def _read(value: str, context: Context, scopes: Sequence[str]) -> Token:
    """The token, of whichever scope. Raises TokenError."""
    for scope in scopes:
        try:
            return context.tokens.read(value, scope)
        except TokenError as error:
            if str(error) != "for another queue":
                raise
    raise TokenError("it is for a queue that the configuration does not have")
