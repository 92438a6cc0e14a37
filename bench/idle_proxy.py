"""A wasi:http component that decides nothing: the base that the gate's is measured against."""

from __future__ import annotations

from importlib import import_module
from typing import Any

from componentize_py_types import Ok
from wit_world.imports import types

_Base: Any = import_module("wit_world.exports").IncomingHandler


class IncomingHandler(_Base):
    def handle(self, request: Any, response_out: Any) -> None:
        response = types.OutgoingResponse(types.Fields.from_list([("content-length", b"2")]))
        body = response.body()
        types.ResponseOutparam.set(response_out, Ok(response))
        with body.write() as stream:
            stream.blocking_write_and_flush(b"ok")
        types.OutgoingBody.finish(body, None)
