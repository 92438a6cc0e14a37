"""Role by role, over every route of the app: what a role may not do is refused before anything else is looked at."""

from __future__ import annotations

import pytest

from admin import console
from admin.access.needs import access_of, endpoints
from admin.access.permissions import ALL, ROLES, Permission
from admin.api.all import ROUTERS
from tests.admin.conftest import Admin
from tests.admin.test_safety import fill

CONSOLE = [(method, path, access) for method, path, end in endpoints(console.ROUTES) if (access := access_of(end))]
API = [(method, path, access_of(end)) for router in ROUTERS for method, path, end in endpoints(router.routes)]


@pytest.mark.parametrize("role", ROLES)
def test_a_role_gets_what_is_its_own(admin: Admin, role: str) -> None:
    allowed, refused = 0, 0
    with admin.as_role(role) as browser:
        token = browser.fields("/queues/sale", "/sign-out")["csrf"]
        for method, path, access in CONSOLE:
            if access.permission is None or path.endswith("/live") or "stream" in path or "events" in path:
                continue
            may = access.permission in ROLES[role]
            if may and method == "POST":
                continue  # What they do is tested where they are; here only that others do not.
            answer = browser.client.request(method, fill(path), data={"csrf": token} if method == "POST" else None)
            assert (answer.status_code == 403) == (not may), (role, method, path, answer.status_code)
            if not may:
                assert "Your role is" in answer.text, path
            allowed, refused = allowed + may, refused + (not may)
    assert allowed > 5
    assert refused > 20 or ROLES[role] == ALL


@pytest.mark.parametrize("missing", sorted(ALL))
def test_a_token_without_a_scope_is_refused(admin: Admin, missing: Permission) -> None:
    scopes = sorted(ALL - {missing})
    secret = admin.api("POST", "/tokens", json={"name": "all but one", "scopes": scopes}).json()["secret"]
    tried = 0
    with admin.anyone() as client:
        for method, path, access in API:
            assert access
            if access.permission == missing:
                answer = client.request(method, fill(path), headers={"Authorization": f"Bearer {secret}"}, json={})
                assert answer.headers["content-type"] == "application/problem+json", (method, path, answer.text[:80])
                assert (answer.status_code, answer.json().get("needs")) == (403, missing), (method, path)
                tried += 1
    assert tried > 0
