"""As `wasi_http`, with configuration and pages in the host's own store (`wit/proxy`, world `proxy-with-keyvalue`)."""

from __future__ import annotations

from edge.guests import no_ssl  # isort: skip  # before anything imports jwt
from typing import Any, cast

from componentize_py_types import Err
from wit_world.imports import environment, store  # type: ignore[attr-defined]

from edge.guests import warm
from edge.guests.on_wasi import warm as wasi_warm
from edge.guests.on_wasi.api import IncomingHandler as _IncomingHandler
from edge.guests.on_wasi.serving import Gate
from edge.guests.page_shelf import ReadKv

assert no_ssl
# The identifier of the store, as the host knows it; the empty one is the host's default.
_BUCKET_VARIABLE = "STANCHION_KV_BUCKET"


def _open() -> ReadKv:
    """Reads from the host's store. Raises nothing: a store that cannot be opened is one that cannot be read."""
    identifier = dict(environment.get_environment()).get(_BUCKET_VARIABLE, "")

    def read(key: str) -> bytes | None:
        try:
            with store.open(identifier) as bucket:
                found = bucket.get(key)
        except Err as error:
            raise OSError(f"the key-value store: {type(error.value).__name__}") from error
        return cast(bytes | None, found)

    return read


_GATE = Gate(_open)


class IncomingHandler(_IncomingHandler):  # type: ignore[misc]
    """The export of the world."""

    def handle(self, request: Any, response_out: Any) -> None:
        """Answers one request."""
        _GATE.serve(request, response_out)


warm.run()
wasi_warm.run()
warm.settle()
