"""The guest for wasi:http hosts (`wit/proxy`, world `proxy`): a proxy of its own, with everything else over HTTP."""

from __future__ import annotations

from edge.guests import no_ssl  # isort: skip  # before anything imports jwt
from typing import Any

from edge.guests import warm
from edge.guests.on_wasi import warm as wasi_warm
from edge.guests.on_wasi.api import IncomingHandler as _IncomingHandler
from edge.guests.on_wasi.serving import Gate

assert no_ssl
_GATE = Gate()


class IncomingHandler(_IncomingHandler):  # type: ignore[misc]
    """The export of the world."""

    def handle(self, request: Any, response_out: Any) -> None:
        """Answers one request."""
        _GATE.serve(request, response_out)


# Every path once before the snapshot of the instance: first calls cost most there.
warm.run()
wasi_warm.run()
warm.settle()
