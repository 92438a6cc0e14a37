"""The shop as an ASGI application."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator
from pathlib import Path

from starlette.applications import Starlette
from starlette.datastructures import FormData, UploadFile
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import JSONResponse, RedirectResponse, Response, StreamingResponse
from starlette.routing import BaseRoute, Route
from starlette.templating import Jinja2Templates

from host.origin.admission import PASS_HEADER, describe
from host.origin.goods import SALES, Item, Sale, Stock

MAX_TICKS = 60
MAX_BODY_BYTES = 64 * 1024
MAX_FIELDS = 40
TICK_S = 1.0
COMMAND_HEADER = "Stanchion-Command"

_HERE = Path(__file__).parent
_ASSETS = {".css": "text/css; charset=utf-8", ".svg": "image/svg+xml"}
_TEMPLATES = Jinja2Templates(directory=_HERE / "templates")


def create_app() -> Starlette:
    """A shop with full shelves."""
    shop = Shop()
    routes: list[BaseRoute] = [
        Route("/", shop.home),
        Route("/about", shop.about),
        Route("/static/{name}", shop.asset),
    ]
    for sale in SALES:
        routes += _sale_routes(shop, sale)
    app = Starlette(routes=routes, exception_handlers={HTTPException: shop.trouble})
    app.router.redirect_slashes = False  # it would name the scheme of the inner connection
    return app


def _sale_routes(shop: Shop, sale: Sale) -> list[BaseRoute]:
    desk = Desk(shop, sale)
    return [
        Route(f"/{sale.path}", desk.inwards),
        Route(f"/{sale.path}/", desk.front),
        Route(f"/{sale.path}/item/{{slug}}", desk.item),
        Route(f"/{sale.path}/checkout", desk.checkout, methods=["GET", "POST"]),
        Route(f"/{sale.path}/leave-shop", desk.leave, methods=["POST"]),
        Route(f"/{sale.path}/api/stock", desk.stock),
        Route(f"/{sale.path}/events", desk.events),
        Route(f"/{sale.path}/headers", desk.headers),
        Route(f"/{sale.path}/{{rest:path}}", desk.elsewhere),
    ]


class Shop:
    """The pages outside of any sale, and what all pages share."""

    def __init__(self) -> None:
        self.shelves = Stock()

    def page(self, request: Request, template: str, status: int = 200, **values: object) -> Response:
        """A page with the footer that shows the admission header."""
        admission = describe(request.headers.getlist(PASS_HEADER))
        answer = _TEMPLATES.TemplateResponse(
            request, template, {"sales": SALES, "admission": admission} | values, status_code=status
        )
        answer.headers["Cache-Control"] = "private"
        return answer

    async def home(self, request: Request) -> Response:
        """The front door, which no queue guards."""
        return with_cookies(self.page(request, "home.html"))

    async def about(self, request: Request) -> Response:
        """A page that no queue guards."""
        return self.page(request, "about.html")

    async def asset(self, request: Request) -> Response:
        """A style sheet or picture, which any cache may keep."""
        name = request.path_params["name"]
        file = _HERE / "static" / name
        if Path(name).name != name or file.suffix not in _ASSETS or not file.is_file():
            raise HTTPException(404)
        keep = {"Cache-Control": "public, max-age=300"}
        return Response(file.read_bytes(), headers=keep, media_type=_ASSETS[file.suffix])

    async def trouble(self, request: Request, error: Exception) -> Response:
        """A page for what is not there or not allowed."""
        assert isinstance(error, HTTPException)
        answer = self.page(request, "trouble.html", error.status_code, error=error)
        answer.headers.update(error.headers or {})
        return answer


class Desk:
    """The pages of one sale."""

    def __init__(self, shop: Shop, sale: Sale) -> None:
        self._shop = shop
        self._sale = sale

    def _page(self, request: Request, template: str, status: int = 200, **values: object) -> Response:
        left = {item.slug: self._shop.shelves.left(self._sale, item) for item in self._sale.items}
        return self._shop.page(request, template, status, sale=self._sale, left=left, **values)

    async def inwards(self, request: Request) -> Response:
        """The sale without its slash."""
        return RedirectResponse(f"/{self._sale.path}/", headers={"Cache-Control": "private"})

    async def front(self, request: Request) -> Response:
        """What there is to buy."""
        return with_cookies(self._page(request, "sale.html"))

    async def item(self, request: Request) -> Response:
        """One item."""
        return self._page(request, "item.html", item=self._wanted(request.path_params["slug"]))

    async def checkout(self, request: Request) -> Response:
        """The order form, in which `?item=` chooses; posted, it takes the order."""
        if request.method == "POST":
            return await self._order(request)
        return self._page(request, "checkout.html", chosen=request.query_params.get("item", ""))

    async def _order(self, request: Request) -> Response:
        """Shows what was posted, and tells the gate that this visit is complete."""
        fields = await _fields(request)
        posted = dict(fields)
        item = self._sale.item(posted.get("item", ""))
        count = posted.get("count", "1")
        if item is not None and not (
            count.isascii() and count.isdigit() and self._shop.shelves.take(self._sale, item, int(count[:6]))
        ):
            return self._page(request, "checkout.html", 409, chosen=item.slug, problem=f"We cannot send {count[:20]} of these.")
        answer = self._page(request, "order.html", item=item, fields=fields)
        answer.headers[COMMAND_HEADER] = "complete"
        return answer

    async def leave(self, request: Request) -> Response:
        """The visitor goes; the gate may give the room to somebody else."""
        answer = self._page(request, "left.html")
        answer.headers[COMMAND_HEADER] = "revoke"
        return answer

    async def stock(self, request: Request) -> Response:
        """What is left, as JSON."""
        shelves = self._shop.shelves
        items = [{"item": item.slug, "left": shelves.left(self._sale, item)} for item in self._sale.items]
        return JSONResponse({"sale": self._sale.path, "items": items}, headers={"Cache-Control": "private"})

    async def events(self, request: Request) -> Response:
        """Server-sent events: a tick a second, `?count=` of them, at most 60."""
        text = request.query_params.get("count", str(MAX_TICKS))
        if not (text.isascii() and text.isdigit() and 0 < int(text[:9]) <= MAX_TICKS):
            raise HTTPException(400, f"count must be a number from 1 to {MAX_TICKS}")
        feed = _ticks(self._sale, self._shop.shelves, int(text))
        return StreamingResponse(feed, media_type="text/event-stream", headers={"Cache-Control": "no-store"})

    async def headers(self, request: Request) -> Response:
        """Everything that arrived here ahead of the body, as JSON; a name that came twice is there twice."""
        came = [[name.decode("latin-1"), value.decode("latin-1")] for name, value in request.headers.raw]
        target = request.scope["raw_path"].decode("latin-1")
        if request.scope["query_string"]:
            target += "?" + request.scope["query_string"].decode("latin-1")
        shown = {"method": request.method, "target": target, "headers": came}
        return JSONResponse(shown, headers={"Cache-Control": "private"})

    async def elsewhere(self, request: Request) -> Response:
        """Any other path of the sale."""
        return self._page(request, "elsewhere.html", path=request.url.path)

    def _wanted(self, slug: str) -> Item:
        item = self._sale.item(slug)
        if item is None:
            raise HTTPException(404, "There is no such thing here.")
        return item


def with_cookies(answer: Response) -> Response:
    """The shop's own two cookies, each in a header of its own."""
    answer.set_cookie("foyer_basket", "empty", path="/", httponly=True, samesite="lax")
    answer.set_cookie("foyer_seen", "1", path="/", max_age=86_400, samesite="lax")
    return answer


async def _fields(request: Request) -> list[tuple[str, str]]:
    """The posted fields in order. Raises HTTPException 413 for a body that is too long, 400 for one that is no form."""
    body = bytearray()
    async for chunk in request.stream():
        body += chunk
        if len(body) > MAX_BODY_BYTES:
            raise HTTPException(413, f"A form may hold {MAX_BODY_BYTES} bytes.")
    form: FormData = await _again(request, bytes(body)).form(max_fields=MAX_FIELDS, max_files=0)
    return [(name, "a file" if isinstance(value, UploadFile) else value) for name, value in form.multi_items()]


def _again(request: Request, body: bytes) -> Request:
    """The same request, its body ready to be read once more."""

    async def receive() -> dict[str, object]:
        return {"type": "http.request", "body": body, "more_body": False}

    return Request(request.scope, receive)


async def _ticks(sale: Sale, shelves: Stock, count: int) -> AsyncIterator[str]:
    for number in range(1, count + 1):
        if number > 1:
            await asyncio.sleep(TICK_S)
        left = sum(shelves.left(sale, item) for item in sale.items)
        yield f"event: tick\nid: {number}\ndata: {json.dumps({'tick': number, 'left': left})}\n\n"
