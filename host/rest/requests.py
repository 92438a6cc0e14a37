"""From an HTTP request to Redis commands: JSON bodies and the path form. Pure; nothing here does I/O.

Rules: Upstash documentation, "REST API" (API semantics, POST command in body, pipelining, transactions).
"""

from __future__ import annotations

import json
from typing import Any, NoReturn, TypeAlias
from urllib.parse import unquote_to_bytes

Command: TypeAlias = list[bytes]

#: Upstash, "Pricing and limits": 10 MB per request. Counted over the whole HTTP body.
MAX_REQUEST_BYTES = 10 * 1024 * 1024
#: A word of a command in the path is bounded by the request line anyway; this bounds what a body may ask for.
MAX_COMMANDS = 10_000


class BadRequest(Exception):
    """The request cannot be turned into commands. The text is the client's `error`, code included."""


def too_large(actual_bytes: int) -> str:
    """The documented error text for a request over the limit."""
    return f"ERR max request size exceeded. Limit: {MAX_REQUEST_BYTES} bytes, Actual: {actual_bytes} bytes."


def command_from_json(body: bytes) -> Command:
    """`["SET", "k", "v", "EX", 100]` as a command. Raises BadRequest."""
    value = _parse(body)
    if value and isinstance(value, list) and isinstance(value[0], list):
        raise BadRequest("ERR POST / takes one command; send several to /pipeline or /multi-exec")
    return _command(value, "the request body")


def commands_from_json(body: bytes) -> list[Command]:
    """`[["SET", "k", "v"], ["GET", "k"]]` as commands, from one to MAX_COMMANDS. Raises BadRequest."""
    rows = _parse(body)
    if not isinstance(rows, list):
        raise BadRequest("ERR failed to parse request: the body must be a JSON array of commands")
    if not rows:
        raise BadRequest("ERR empty pipeline: the body holds no command")
    if len(rows) > MAX_COMMANDS:
        raise BadRequest(f"ERR too many commands: {len(rows)}, at most {MAX_COMMANDS} in one request")
    return [_command(row, f"command {number}") for number, row in enumerate(rows, 1)]


def command_from_path(raw_path: bytes, query: list[tuple[bytes, bytes]], body: bytes) -> Command:
    """`/set/foo` with body `bar` and query `?EX=100` as `set foo bar EX 100`.

    A word is percent-decoded after the path was split, so `%2F` is part of a word. An empty body adds
    nothing; `_token` is not part of the command. Raises BadRequest when the path names no command.
    """
    words = [unquote_to_bytes(word) for word in raw_path.lstrip(b"/").split(b"/")]
    if not words[0]:
        raise BadRequest("ERR empty command: name one in the path, or POST a JSON array")
    if body:
        words.append(body)
    for name, value in query:
        if name != b"_token":
            words += [name, value] if value else [name]
    return words


def query_pairs(query_string: bytes) -> list[tuple[bytes, bytes]]:
    """The query in order, decoded to bytes (a value may be binary, which `parse_qsl` would not keep)."""
    pairs = []
    for part in query_string.split(b"&"):
        if part:
            name, _, value = part.replace(b"+", b" ").partition(b"=")
            pairs.append((unquote_to_bytes(name), unquote_to_bytes(value)))
    return pairs


def _parse(body: bytes) -> Any:
    try:
        # Numbers stay as they were written: 1.50 must not reach Redis as 1.5, nor a long integer as a double.
        return json.loads(body, parse_int=str, parse_float=str, parse_constant=_no_constant)
    except (ValueError, RecursionError) as error:
        raise BadRequest(f"ERR failed to parse request: the body is not JSON ({error})") from None


def _no_constant(name: str) -> NoReturn:
    raise ValueError(f"{name} is not a JSON number")


def _command(row: Any, where: str) -> Command:
    if not isinstance(row, list):
        raise BadRequest(f"ERR failed to parse request: {where} is not a JSON array")
    if not row or not isinstance(row[0], str) or not row[0]:
        raise BadRequest(f"ERR empty command: {where} has no command name")
    return [_argument(item, where, index) for index, item in enumerate(row)]


def _argument(item: Any, where: str, index: int) -> bytes:
    if isinstance(item, str):
        try:
            return item.encode("utf-8")
        except UnicodeEncodeError:
            raise BadRequest(f"ERR failed to parse request: item {index} of {where} has half a surrogate pair") from None
    if isinstance(item, bool):
        return b"true" if item else b"false"
    kind = "null" if item is None else "an array" if isinstance(item, list) else "an object"
    raise BadRequest(f"ERR failed to parse request: item {index} of {where} is {kind}; send a string or a number")
