"""The room of the schedule: what will happen to queues, and when."""

from admin.console.schedule import pages

ROUTES = pages.ROUTES
