"""The platform's raw bindings, in one place (`fastly:compute` 0.1.0, as the builder of the `fastly-compute` SDK generates them).

They exist in the sandbox only, so for a type checker they are Any. The SDK's own package is never imported: it rewrites the
bindings when it is, and errors then arrive as other exceptions than `Err`.
"""

from __future__ import annotations

from typing import Any

from componentize_py_types import Err, Ok
from wit_world import exports  # type: ignore[attr-defined]
from wit_world.imports import (  # type: ignore[attr-defined]
    async_io,
    backend,
    cache,
    config_store,
    erl,
    geo,
    http_body,
    http_downstream,
    http_req,
    http_resp,
    kv_store,
    log,
    secret_store,
    types,
)

from edge.guests import light_handles

light_handles.install()
log_endpoints: Any = log

__all__ = [
    "Err", "Ok", "async_io", "backend", "cache", "config_store", "erl", "exports", "geo", "http_body", "http_downstream",
    "http_req", "http_resp", "kv_store", "log_endpoints", "secret_store", "types",
]  # fmt: skip
