"""The settings of queues: the rooms of the console in which the configuration is edited."""

from admin.console.configure import editor, entry, history, overview, tester, transfer

ROUTES = [*overview.ROUTES, *editor.ROUTES, *history.ROUTES, *tester.ROUTES, *transfer.ROUTES, *entry.ROUTES]
