"""The admin app of its own tests, for the command line that drives it."""

from tests.admin.conftest import admin, bridge, redis_server, serve

__all__ = ["admin", "bridge", "redis_server", "serve"]
