"""WASI's raw bindings, in one place (wit/proxy). They exist in the sandbox only, so for a type checker they are Any."""

from __future__ import annotations

from importlib import import_module
from typing import Any

from componentize_py_types import Err, Ok
from wit_world.imports import (  # type: ignore[attr-defined]
    environment,
    monotonic_clock,
    outgoing_handler,
    poll,
    streams,
    types,
)

from edge.guests import light_environ, light_handles

light_environ.install()
light_handles.install()
IncomingHandler: Any = import_module("wit_world.exports").IncomingHandler
# What the host makes, by a list of the arguments.
new_outgoing_request = light_handles.maker(types.OutgoingRequest, None)
new_outgoing_response = light_handles.maker(types.OutgoingResponse, None)
new_request_options = light_handles.maker(types.RequestOptions)

__all__ = [
    "Err", "IncomingHandler", "Ok", "environment", "monotonic_clock", "new_outgoing_request", "new_outgoing_response",
    "new_request_options", "outgoing_handler", "poll", "streams", "types",
]  # fmt: skip
