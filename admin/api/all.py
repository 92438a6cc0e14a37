"""Every router of the API, for the app and for the tests that go through all routes."""

from __future__ import annotations

from collections.abc import Sequence

from fastapi import APIRouter

from admin.api import (
    audit,
    brands,
    configuration,
    explain,
    metrics,
    operate,
    people,
    rehearsals,
    routes,
    schedule,
    sites,
    transfer,
)

ROUTERS: Sequence[APIRouter] = (
    routes.router, sites.router, operate.router, configuration.router, explain.router, transfer.router, people.router,
    audit.router, brands.router, metrics.router, schedule.router,
    rehearsals.router,
)  # fmt: skip
