"""Pages that show: the list of queues, the questions before a reset, all limits. None of them changes anything."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import Route

from admin.access.needs import needs
from admin.access.permissions import Permission
from admin.configuration import Published
from admin.console import live, sentences, words
from admin.console.live_values import Live
from admin.console.queue_page import QUEUES_PER_PAGE
from admin.console.render import page
from admin.console.stream import stream
from admin.desk import Desk, desk
from admin.limits import NAMES
from admin.operations import new_request_id
from admin.watch import Look, Picture
from admin.words import gettext
from edge.core.model import Queue


@dataclass(frozen=True)
class Selection:
    """The queues on one page of the list."""

    queues: tuple[Queue, ...]
    search: str
    number: int
    pages: int
    found: int


def select(queues: Sequence[Queue], query: Mapping[str, str]) -> Selection:
    """Those whose id or name holds the text `q`, page `page` of them."""
    search = query.get("q", "").strip()[:100]
    wanted = search.casefold()
    found = [queue for queue in queues if wanted in queue.id or wanted in queue.name.casefold()]
    pages = max(1, math.ceil(len(found) / QUEUES_PER_PAGE))
    asked = query.get("page", "")
    number = min(int(asked) if asked.isascii() and asked.isdigit() and len(asked) < 6 else 1, pages) or 1
    start = (number - 1) * QUEUES_PER_PAGE
    return Selection(tuple(found[start : start + QUEUES_PER_PAGE]), search, number, pages, len(found))


@needs(Permission.SEE)
async def list_page(request: Request) -> Response:
    """All queues with their numbers."""
    published, selection, picture, now = await _list(request)
    stale = live.freshness(now, picture)
    return page(
        request, "queues.html", live=now, stale=stale, selection=selection, looks=picture.looks, published=published,
        any_queue=bool(published.config.queues), query=request.url.query,
    )  # fmt: skip


@needs(Permission.SEE, polls=True)
async def list_live(request: Request) -> Response:
    """What has moved on the list, as JSON."""
    return JSONResponse(await _moved(request))


@needs(Permission.SEE, polls=True)
async def list_events(request: Request) -> Response:
    """The same as events."""
    return stream(request, lambda: _moved(request))


async def _moved(request: Request) -> dict[str, Any]:
    _, _, picture, now = await _list(request)
    stale = live.freshness(now, picture)
    return {**now.as_json(), "stale": stale, "shape": "list"}


async def _list(request: Request) -> tuple[Published, Selection, Picture, Live]:
    room = desk(request)
    published = await room.source.published()
    selection = select(published.config.queues, request.query_params)
    picture = await room.watch.look(selection.queues)
    now = Live()
    live.rows(now, picture.looks, room.watch.history, room.unix_s())
    return published, selection, picture, now


@needs(Permission.OPERATE)
async def reset_page(request: Request) -> Response:
    """Asks before a reset."""
    return await show_reset(request, request.path_params["queue_id"])


async def show_reset(
    request: Request, queue_id: str, status: int = 200, *, error: str = "", typed: str = "", request_id: str = "",
    problem: str = "",
) -> Response:  # fmt: skip
    """The question, in words and in today's numbers. Raises UnknownQueue."""
    look = await _fresh(request, queue_id)
    says = sentences.reset(look.view) if look.view else []
    return page(
        request, "reset.html", status, look=look, says=says, error=error, typed=typed, problem=problem,
        request_id=request_id or new_request_id(),
    )  # fmt: skip


@needs(Permission.OPERATE)
async def limits_page(request: Request) -> Response:
    """All limits: in force, from the configuration, and a form."""
    return await show_limits(request, request.path_params["queue_id"])


async def show_limits(
    request: Request, queue_id: str, status: int = 200, *, errors: Mapping[str, str] | None = None,
    typed: Mapping[str, str] | None = None, problem: str = "", request_id: str = "",
) -> Response:  # fmt: skip
    """The form of all limits; after an error with what was typed. Raises UnknownQueue."""
    look = await _fresh(request, queue_id)
    fields = [_limit_field(look, name, typed or {}, errors or {}) for name in NAMES]
    return page(
        request, "limits.html", status, look=look, fields=fields, problem=problem or (errors or {}).get("", ""),
        request_id=request_id or new_request_id(),
    )  # fmt: skip


def _limit_field(look: Look, name: str, typed: Mapping[str, str], errors: Mapping[str, str]) -> dict[str, Any]:
    in_force = getattr(look.view.limits if look.view else look.queue, name)
    configured = getattr(look.queue, name)
    return {
        "name": name,
        "label": gettext(words.LIMIT_WORDS[name]),
        "unit": gettext(words.LIMIT_UNITS[name]),
        "value": typed.get(name, "" if in_force is None else str(in_force)),
        "seen": "" if in_force is None else str(in_force),
        "configured": words.limit(configured, name),
        "none": words.limit(None, name),
        "live": look.view is not None and name in look.view.limits.live,
        "to_config": typed.get(f"{name}-config", "") == "1",
        "error": errors.get(name, ""),
    }


async def _fresh(request: Request, queue_id: str) -> Look:
    room: Desk = desk(request)
    queue = await room.operations.configured(queue_id)
    return (await room.watch.look([queue])).looks[0]


ROUTES = [
    Route("/", list_page, methods=["GET"], name="list"),
    Route("/live", list_live, methods=["GET"]),
    Route("/events", list_events, methods=["GET"]),
    Route("/queues/{queue_id}/reset", reset_page, methods=["GET"]),
    Route("/queues/{queue_id}/limits", limits_page, methods=["GET"]),
]
