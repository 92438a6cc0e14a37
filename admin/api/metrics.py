"""`/metrics` for Prometheus: with a token that has the scope `see`, from anywhere; without one for nobody."""

from __future__ import annotations

from fastapi import APIRouter, Request, Security
from prometheus_client import CONTENT_TYPE_LATEST
from starlette.responses import Response

from admin.access.needs import needs
from admin.access.permissions import Permission
from admin.api.access import require_access
from admin.desk import desk
from admin.operate.metrics import scrape

router = APIRouter(dependencies=[Security(require_access)], include_in_schema=False)


@router.get("/metrics")
@needs(Permission.SEE)
async def metrics(request: Request) -> Response:
    """One scrape."""
    return Response(await scrape(desk(request)), media_type=None, headers={"Content-Type": CONTENT_TYPE_LATEST})
