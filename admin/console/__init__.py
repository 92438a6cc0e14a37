"""The console: HTML pages for operators, and the routes of all its parts."""

from admin.console import actions, configure, pages, sign_in, studio

ROUTES = [*sign_in.ROUTES, *pages.ROUTES, *actions.ROUTES, *configure.ROUTES, *studio.ROUTES]
