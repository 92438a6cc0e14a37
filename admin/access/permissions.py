"""What one may do in the admin app, and which role may do what."""

from __future__ import annotations

from collections.abc import Mapping
from enum import StrEnum


class Permission(StrEnum):
    """One kind of deed. The values are the scopes of API tokens."""

    SEE = "see"
    OPERATE = "operate"
    CONFIGURE = "configure"
    EDIT_PAGES = "edit_pages"
    PUBLISH_PAGES = "publish_pages"
    SEE_AUDIT = "see_audit"
    MANAGE_PEOPLE = "manage_people"


ALL = frozenset(Permission)
VIEWER, MARKETER, OPERATOR, OWNER = "viewer", "marketer", "operator", "owner"
# From the least to the most.
ROLES: Mapping[str, frozenset[Permission]] = {
    VIEWER: frozenset({Permission.SEE}),
    MARKETER: frozenset({Permission.SEE, Permission.EDIT_PAGES, Permission.PUBLISH_PAGES}),
    OPERATOR: frozenset({Permission.SEE, Permission.OPERATE, Permission.CONFIGURE, Permission.SEE_AUDIT}),
    OWNER: ALL,
}


def roles_with(permission: Permission) -> list[str]:
    """The roles that may do this, from the least to the most."""
    return [role for role, may in ROLES.items() if permission in may]
