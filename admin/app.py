"""The admin app: its parts put together."""

from __future__ import annotations

import contextlib
import time
from collections.abc import AsyncIterator, Callable
from pathlib import Path

from fastapi import FastAPI
from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.staticfiles import StaticFiles
from uvicorn.middleware.proxy_headers import ProxyHeadersMiddleware

from admin import console
from admin.access.account import Account
from admin.access.api_tokens import ApiTokens
from admin.access.doors import Doors
from admin.access.identity import Identity
from admin.access.needs import check_routes, public
from admin.access.oidc import Provider
from admin.access.people import People
from admin.access.rates import Rates
from admin.access.sessions import Sessions
from admin.api.all import ROUTERS
from admin.configuration import ConfigurationSource
from admin.configure.keeper import Keeper
from admin.configure.service import Configurator
from admin.console.render import environment
from admin.credentials import Credentials
from admin.desk import Desk
from admin.errors import handle_errors
from admin.invitations import Invitations
from admin.kv import FolderKv, Kv
from admin.operate import desk as operate
from admin.operations import Operations
from admin.publish.sources import TEMPLATES
from admin.request_ids import RequestIds
from admin.request_log import RequestLog
from admin.security import STATIC_PREFIX, SecurityHeaders, SessionCookies
from admin.settings import Settings
from admin.state.db import Database, StateError
from admin.state.migrate import migrate
from admin.store import Store
from admin.studio.studio import Studio
from admin.studio.workshop import Workshop
from admin.throttle import Throttle
from admin.visits import Visits
from admin.watch import Watch

STATIC = Path(__file__).parent / "static"


def create_app(
    settings: Settings,
    credentials: Credentials,
    *,
    kv: Kv | None = None,
    db: Database | None = None,
    unix_s: Callable[[], float] = time.time,
    monotonic_s: Callable[[], float] = time.monotonic,
) -> FastAPI:
    """The app. `kv` is the store of configuration and pages, `db` the app's own database (migrated); by default as set.

    Raises StateError.
    """
    store = Store(settings.redis_url, settings.redis_token, settings.redis_flavour)
    db = db or open_database(settings)
    room = _desk(settings, credentials, db, store, kv or FolderKv(settings.kv_dir), unix_s, monotonic_s)

    @contextlib.asynccontextmanager
    async def lifespan(app: FastAPI) -> AsyncIterator[None]:
        async with room.operate.running(), room.keeper.running():
            yield
        room.studio.workshop.close()
        await store.close()
        db.close()

    # docs_url and redoc_url load scripts from elsewhere, which the content security policy forbids.
    app = FastAPI(
        title="Stanchion admin", version="1", lifespan=lifespan, docs_url=None, redoc_url=None, redirect_slashes=False,
        summary="Operate queues: pause, resume, admit, change limits, reset.",
    )  # fmt: skip
    app.state.desk = room
    for router in ROUTERS:
        app.include_router(router)
    app.router.routes += console.ROUTES
    app.add_route("/healthz", healthz, methods=["GET"], include_in_schema=False)
    app.add_route("/readyz", readyz, methods=["GET"], include_in_schema=False)
    app.mount(STATIC_PREFIX.rstrip("/"), StaticFiles(directory=STATIC), name="static")
    check_routes(app.router.routes)
    handle_errors(app)
    app.add_middleware(Identity, room=room)
    app.add_middleware(SessionCookies, secret=credentials.session_secret)
    app.add_middleware(SecurityHeaders)
    app.add_middleware(RequestLog)
    if settings.trusted_proxies:
        app.add_middleware(ProxyHeadersMiddleware, trusted_hosts=list(settings.trusted_proxies))
    app.add_middleware(RequestIds, trusted_proxies=settings.trusted_proxies)
    return app


def open_database(settings: Settings) -> Database:
    """The app's own database, brought to this program's schema. Raises StateError."""
    db = database_of(settings)
    migrate(db)
    return db


def database_of(settings: Settings) -> Database:
    """The app's own database as it is. Raises StateError."""
    if not settings.database_url:
        try:
            settings.admin_dir.mkdir(mode=0o700, parents=True, exist_ok=True)
        except OSError as error:
            raise StateError(f"{settings.admin_dir} cannot be made: {error.strerror or error}") from error
    return Database(settings.database)


def _desk(
    settings: Settings, credentials: Credentials, db: Database, store: Store, kv: Kv, unix_s: Callable[[], float],
    monotonic_s: Callable[[], float],
) -> Desk:  # fmt: skip
    source = ConfigurationSource(kv, monotonic_s)
    operations = Operations(source, store)
    watch = Watch(source, operations, unix_s)
    return Desk(
        settings=settings,
        credentials=credentials,
        db=db,
        people=People(db, unix_s),
        account=Account(db, unix_s),
        tokens=ApiTokens(db, unix_s),
        rates=Rates(settings.api_per_minute),
        sessions=Sessions(db, credentials.fingerprint),
        throttle=Throttle(monotonic_s),
        doors=Doors(db, credentials, unix_s),
        provider=Provider(settings.oidc, db, unix_s) if settings.oidc else None,
        kv=kv,
        source=source,
        configurator=Configurator(kv, store, source),
        keeper=Keeper(kv, db, unix_s),
        store=store,
        operations=operations,
        visits=Visits(operations, store, settings.signing_keys, unix_s),
        invitations=Invitations(operations, settings.signing_keys, unix_s),
        watch=watch,
        operate=operate.make(source, operations, store, watch, db, unix_s),
        studio=Studio(db, kv, Workshop(TEMPLATES, settings.admin_dir / "templates"), lambda: int(unix_s() * 1000)),
        templates=environment(),
        unix_s=unix_s,
    )


@public("says nothing but what answers")
async def healthz(request: Request) -> Response:
    """Alive, and what it sees: 200 also when Redis, the KV store or the database is away, because a restart brings none back."""
    return JSONResponse({"status": "ok", **await _seen(request)})


@public("says nothing but what answers")
async def readyz(request: Request) -> Response:
    """Whether to send people here: 503 while the app's own database is away, because nobody can sign in then."""
    seen = await _seen(request)
    ready = seen["database"] == "ok"
    return JSONResponse({"status": "ok" if ready else "not ready", **seen}, 200 if ready else 503)


async def _seen(request: Request) -> dict[str, str]:
    room: Desk = request.app.state.desk
    published, away = await room.source.published(), await room.db.check()
    return {
        "database": "away" if away else "ok",
        "redis": "away" if room.watch.problem else "ok",
        "configuration": "bad" if published.problem else "ok",
    }
