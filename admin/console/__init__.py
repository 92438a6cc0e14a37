"""The console: HTML pages for operators, and the routes of all its parts."""

from admin.console import (
    account,
    actions,
    audit,
    configure,
    confirm,
    limit_actions,
    links,
    oidc,
    pages,
    people,
    queue_page,
    rehearsal,
    revoke,
    schedule,
    sign_in,
    studio,
    undo,
)

_IDEAS = (
    sign_in, oidc, links, pages, queue_page, actions, limit_actions, confirm, undo, revoke, schedule, configure, studio, account,
    people, audit, rehearsal,
)  # fmt: skip
ROUTES = [route for idea in _IDEAS for route in idea.ROUTES]
