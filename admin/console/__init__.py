"""The console: HTML pages for operators, and the routes of all its parts."""

from admin.console import account, actions, audit, configure, links, oidc, pages, people, sign_in, studio

_IDEAS = (sign_in, oidc, links, pages, actions, configure, studio, account, people, audit)
ROUTES = [route for idea in _IDEAS for route in idea.ROUTES]
