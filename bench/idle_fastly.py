"""A component for Fastly Compute that decides nothing: the base that the gate's is measured against on Viceroy."""

from __future__ import annotations

from importlib import import_module
from typing import Any

_imports: Any = import_module("wit_world.imports")
_exports: Any = import_module("wit_world.exports")


class HttpIncoming(_exports.HttpIncoming):  # type: ignore[misc]
    def handle(self, request: Any, body: Any) -> None:
        response, content = _imports.http_resp.Response.new(), _imports.http_body.new()
        _imports.http_body.write(content, b"ok")
        _imports.http_resp.send_downstream(response, content)
