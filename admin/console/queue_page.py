"""The page of one queue: rendered once, then kept current by events or, without them, by asking."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import Route

from admin.access.needs import needs
from admin.access.permissions import Permission
from admin.configuration import Published
from admin.console import live, live_figures, sentences, words
from admin.console.chart import nice_top
from admin.console.live_chart import Chart
from admin.console.live_values import Live
from admin.console.render import page
from admin.console.stream import stream
from admin.console.zones import zone_of
from admin.desk import desk
from admin.limits import NAMES
from admin.operate.history import SPANS, Span
from admin.operate.last_change import last_change
from admin.operations import UnknownQueue, new_request_id
from admin.steps import BEACON_MAX, MESSAGE_MAX
from admin.store import StoreUnavailable
from admin.watch import Look, Picture

QUEUES_PER_PAGE = 50
DEFAULT_BATCH = "50"


@dataclass(frozen=True)
class Scene:
    """What the page shows: the queue, the others of the rail, the values that move, and the chart."""

    look: Look
    rail: tuple[Look, ...]
    picture: Picture
    now: Live
    line: Chart
    published: Published


@needs(Permission.SEE)
async def queue_page(request: Request) -> Response:
    """One queue on one screen."""
    return await show_queue(request, request.path_params["queue_id"])


async def show_queue(
    request: Request, queue_id: str, status: int = 200, *, problem: str = "", errors: Mapping[str, str] | None = None,
    typed: Mapping[str, str] | None = None, request_id: str = "",
) -> Response:  # fmt: skip
    """The page of a queue; after a step that failed, with what went wrong and with what was typed. Raises UnknownQueue."""
    scene = await _scene(request, queue_id)
    look, now = scene.look, scene.now
    values = {**_shown(look), **(typed or {})}
    live.controls(now, look.view, values, _in_s(request))
    return page(
        request, "queue.html", status, live=now, stale=live.freshness(now, scene.picture), look=look, rail=scene.rail,
        shape=live.shape(look.view), problem=problem, errors=errors or {}, typed=values, published=scene.published,
        request_id=request_id or new_request_id(), limit_names=NAMES, limit_words=words.LIMIT_WORDS, line=scene.line,
        message_max=MESSAGE_MAX, beacon_max=BEACON_MAX,
        concerned=sentences.concerned(look.view) if look.view else "", figure_rows=live_figures.rows(),
        seen={name: _in_force(look, name) for name in live.FIELDS.values()}, slider=_slider_ends(look),
    )  # fmt: skip


def _shown(look: Look) -> dict[str, str]:
    """What stands in the fields before anybody types."""
    return {
        "count": DEFAULT_BATCH,
        **{field: _in_force(look, name) for field, name in live.FIELDS.items()},
        "visit": "",
        "text": look.view.message if look.view else "",
        "over_rate": "",
        "lane": "",
        "value": "",
    }


def _in_force(look: Look, name: str) -> str:
    value = getattr(look.view.limits if look.view else look.queue, name)
    return "" if value is None else str(value)


def _slider_ends(look: Look) -> dict[str, int]:
    """How far the sliders go: twice what is in force or configured, and a round number."""
    found = {}
    for field, name in live.FIELDS.items():
        values = [getattr(look.queue, name) or 0, int(_in_force(look, name) or 0), 50]
        found[field] = nice_top(2 * max(values))
    return found


def _in_s(request: Request) -> Callable[[float], str]:
    """The clock of who looks, so many seconds from now; with the day when that is not today."""
    zone, now_s = zone_of(request), desk(request).unix_s()

    def clock(seconds: float) -> str:
        at, today = (datetime.fromtimestamp(moment, zone) for moment in (now_s + min(seconds, 3e8), now_s))
        return at.strftime("%H:%M" if at.date() == today.date() else "%Y-%m-%d %H:%M") + (" UTC" if zone.key == "UTC" else "")

    return clock


@needs(Permission.SEE, polls=True)
async def queue_live(request: Request) -> Response:
    """What has moved on the page of a queue, as JSON; the fields of the query are what is typed there."""
    return JSONResponse(await _moved(request, request.path_params["queue_id"]))


@needs(Permission.SEE, polls=True)
async def queue_events(request: Request) -> Response:
    """The same as events."""
    queue_id = request.path_params["queue_id"]
    await desk(request).operations.configured(queue_id)
    return stream(request, lambda: _moved(request, queue_id))


async def _moved(request: Request, queue_id: str) -> dict[str, Any]:
    scene = await _scene(request, queue_id)
    live.controls(scene.now, scene.look.view, request.query_params, _in_s(request))
    stale = live.freshness(scene.now, scene.picture)
    table = [
        [sample.at_s, words.number(sample.waiting), words.number(sample.inside), words.number(sample.admitted_last_minute)]
        for sample in scene.line.rows()
    ]
    return {**scene.now.as_json(), "stale": stale, "shape": live.shape(scene.look.view), "table": table}


async def _scene(request: Request, queue_id: str) -> Scene:
    room = desk(request)
    published = await room.source.published()
    queues = published.config.queues
    chosen = published.config.queue(queue_id)
    if chosen is None:
        raise UnknownQueue(queue_id, published.problem)
    first = queues.index(chosen) // QUEUES_PER_PAGE * QUEUES_PER_PAGE
    picture = await room.watch.look(queues[first : first + QUEUES_PER_PAGE], chosen)
    look = next(look for look in picture.looks if look.queue == chosen)
    now_s = room.unix_s()
    now = Live()
    live.rows(now, picture.looks, room.watch.history, now_s)
    line = await _line(request, queue_id)
    live.queue(now, look, line, now_s)
    await _figures(request, look, now)
    live.last_change(now, await last_change(room.db, look.view) if look.view else None, now_s)
    return Scene(look, picture.looks, picture, now, line, published)


async def _line(request: Request, queue_id: str) -> Chart:
    asked = request.query_params.get("span", "")
    span: Span = asked if asked in SPANS else "quarter"  # type: ignore[assignment]
    found = await desk(request).operate.history.of(queue_id, span)
    return Chart(found.samples, span, zone_of(request), found.problem)


async def _figures(request: Request, look: Look, now: Live) -> None:
    try:
        found = await desk(request).operate.figures.of(look.view) if look.view else None
    except StoreUnavailable:
        found = None  # the banner of old numbers says why
    live_figures.add(now, look.view, found)


ROUTES = [
    Route("/queues/{queue_id}", queue_page, methods=["GET"]),
    Route("/queues/{queue_id}/live", queue_live, methods=["GET"]),
    Route("/queues/{queue_id}/events", queue_events, methods=["GET"]),
]
