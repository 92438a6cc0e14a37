"""Every route of the API against its own description, by schemathesis: no fault of ours, nothing that it does not name."""

from __future__ import annotations

from typing import Any

import httpx
import pytest
import schemathesis
from hypothesis import HealthCheck, Phase, given, settings
from schemathesis.specs.openapi.checks import (
    content_type_conformance,
    response_schema_conformance,
    status_code_conformance,
)

from tests.admin.conftest import API_TOKEN, Admin, Serve
from tests.admin.test_api_sites import RING
from tests.admin.world import Bridge, queue_json

EXAMPLES_PER_ROUTE = 12
# These answer for as long as somebody listens; they have tests of their own.
STREAMS = ("/events",)
CHECKS: list[Any] = [
    schemathesis.checks.not_a_server_error, status_code_conformance, content_type_conformance, response_schema_conformance,
]  # fmt: skip


@pytest.fixture
def sale(serve: Serve, bridge: Bridge) -> Admin:
    """A queue in which people wait, so that steps have something to do."""
    admin = serve(bridge.url, signing_keys=RING)
    admin.publish(queue_json("sale", manual=True, max_active=50, admit_per_minute=60))
    admin.start()
    admin.visitors.join(admin.queues["sale"], 5)
    # In one language its pages are quick to check.
    files = {"brand.json": '{"name": "Shop", "extends": "default", "languages": ["en"]}'}
    assert admin.api("PUT", "/brands/shop/draft", json={"files": files}, headers={"If-Match": '"0"'}).status_code == 200
    return admin


def operations(admin: Admin) -> list[Any]:
    description = httpx.get(f"{admin.url}/openapi.json", trust_env=False).json()
    known = {"queue_id": "sale", "brand": "shop"}
    for path in description["paths"].values():
        for operation in path.values():
            for parameter in operation.get("parameters", []):
                # Half of the requests should meet something that is there.
                if parameter["in"] == "path" and parameter["name"] in known:
                    parameter["schema"] = {"enum": [known[parameter["name"]], "nobody", "é?"]}
    schema = schemathesis.openapi.from_dict(description)
    found = [each.ok() for each in schema.get_all_operations()]
    return [each for each in found if not each.path.endswith(STREAMS)]


def test_every_route_keeps_to_its_description(sale: Admin) -> None:
    failures: list[str] = []
    for operation in operations(sale):

        @settings(
            max_examples=EXAMPLES_PER_ROUTE, deadline=None, derandomize=True, database=None,
            phases=[Phase.generate], suppress_health_check=list(HealthCheck),
        )  # fmt: skip
        @given(case=operation.as_strategy())
        def hold(case: Any) -> None:
            headers = {"Authorization": f"Bearer {API_TOKEN}"}
            answer = case.call(base_url=sale.url, headers=headers, timeout=60)
            case.validate_response(answer, checks=CHECKS)

        try:
            hold()
        except (Exception, BaseExceptionGroup) as error:
            failures.append(f"{operation.label}: {str(error)[:600]}")
    assert not failures, "\n\n".join(failures)
