"""Try an address: which queue decides for it, and why."""

from __future__ import annotations

from urllib.parse import urlsplit

from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from admin.access.needs import needs
from admin.access.permissions import Permission
from admin.configure.asking import Asked, explained
from admin.configure.countries import country_names
from admin.configure.from_elsewhere import VALUES_SAID
from admin.configure.warn import warning_about
from admin.console.configure.common import HOME, show
from admin.desk import desk
from admin.words import gettext as _
from admin.words import language
from edge.core.explain_words import OUTCOMES, WORDS, Explanation
from edge.core.question import BadQuestion

PATH = f"{HOME}/explain"
METHODS = ("GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS")
# How an outcome looks in the console: the status whose colour and shape it has.
_LOOKS = {"bypass": "open", "admit": "open", "hold": "paused", "refuse": "missing", "answer": "other", "depends": "recovering"}
# Outcomes in which somebody may have to wait.
_HOLDING = ("hold", "depends", "admit")


@needs(Permission.SEE)
async def tester(request: Request) -> Response:
    """The question, and the answer where there is one."""
    query = request.query_params
    asked = {name: query.get(name, "")[:8192] for name in ("url", "country", "cookie", "header", "client")}
    asked["method"] = query.get("method", "GET")[:32]
    error, answer, note, warning, status = "", None, "", "", 200
    if asked["url"].strip():
        try:
            what = Asked(asked["url"], asked["method"], asked["country"], _headers(asked), asked["client"])
            answer, note = await explained(desk(request), what)
            warning = await _warning(request, answer, asked)
        except BadQuestion as problem:
            error, status = str(problem), 422
    return show(
        request, "tester.html", PATH, status, asked=asked, error=error, note=_(note), warning=warning, answer=answer,
        methods=METHODS, verdict=_(OUTCOMES[answer.outcome]) if answer else "", look=_LOOKS[answer.outcome] if answer else "",
        steps=_spoken(answer) if answer else [], countries=country_names(language()),
    )  # fmt: skip


async def _warning(request: Request, answer: Explanation, asked: dict[str, str]) -> str:
    """What is said when the queue would hold something that should hardly wait, such as a webhook."""
    published = await desk(request).source.published()
    queue = published.config.queue(answer.queue_id) if answer.queue_id else None
    if queue is None or answer.outcome not in _HOLDING:
        return ""
    found = warning_about(queue, asked["method"], urlsplit(asked["url"]).path or "/")
    return found.spoken if found else ""


def _headers(asked: dict[str, str]) -> dict[str, str]:
    """Cookies and headers, one on a line."""
    headers: dict[str, str] = {}
    for line in filter(str.strip, asked["header"].splitlines()):
        name, _colon, value = line.partition(":")
        headers[name] = value
    cookies = "; ".join(line.strip().rstrip(";") for line in asked["cookie"].splitlines() if line.strip())
    return headers | ({"cookie": cookies} if cookies else {})


def _spoken(answer: Explanation) -> list[str]:
    return [_(WORDS[step.code]) % {name: _said(value) for name, value in step.values.items()} for step in answer.steps]


def _said(value: str) -> str:
    return _(value) if value in VALUES_SAID else value


ROUTES = [Route(PATH, tester, methods=["GET"])]
