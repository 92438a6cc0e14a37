"""Redis replies as values, and their two forms on the wire: the JSON of the REST protocol and plain RESP2.

Every backend hands over replies in RESP2 shapes only: a map is a flat list, a double is a string, a truth
value an integer.
"""

from __future__ import annotations

import json
from base64 import b64encode
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, TypeAlias


class Status(bytes):
    """A RESP simple string such as `+OK`. JSON shows no difference to a bulk string, RESP2 does."""


@dataclass(frozen=True, slots=True)
class ReplyError:
    """An error reply of Redis. `text` is verbatim, with its code: `WRONGTYPE Operation against ...`."""

    text: str


Reply: TypeAlias = "bytes | int | ReplyError | list[Reply] | None"
Json: TypeAlias = "str | int | list[Json] | None"


def to_json(reply: Reply, base64: bool) -> Json:
    """The JSON value of a reply.

    Without `base64` a byte that is not UTF-8 becomes U+FFFD. With it every string is base64, except the
    literal `OK`; numbers and null stay as they are, at any depth (Upstash, "REST API", Base64 Encoded
    Responses).
    """
    if isinstance(reply, bytes):
        if not base64:
            return reply.decode("utf-8", "replace")
        return "OK" if reply == b"OK" else b64encode(reply).decode("ascii")
    if isinstance(reply, list):
        return [to_json(item, base64) for item in reply]
    if isinstance(reply, ReplyError):
        # An error inside an array has no field of its own in this protocol; its text takes the place.
        return to_json(reply.text.encode("utf-8"), base64)
    return reply


def outcome(reply: Reply, base64: bool) -> dict[str, Json]:
    """`{"result": ...}`, or `{"error": text}` for an error reply. Error texts are never base64."""
    if isinstance(reply, ReplyError):
        return {"error": reply.text}
    return {"result": to_json(reply, base64)}


def dumps(value: object) -> bytes:
    """Compact JSON in UTF-8."""
    return json.dumps(value, ensure_ascii=False, separators=(",", ":")).encode("utf-8", "replace")


def to_resp2(reply: Reply) -> bytes:
    """The reply as it would travel on a RESP2 connection."""
    if isinstance(reply, Status):
        return b"+%b\r\n" % reply
    if isinstance(reply, bytes):
        return b"$%d\r\n%b\r\n" % (len(reply), reply)
    if isinstance(reply, int):
        return b":%d\r\n" % reply
    if isinstance(reply, ReplyError):
        return b"-%b\r\n" % reply.text.encode("utf-8", "replace")
    if isinstance(reply, list):
        return b"*%d\r\n%b" % (len(reply), b"".join(map(to_resp2, reply)))
    return b"$-1\r\n"


def flatten(value: Any) -> Reply:
    """Any Python value that a client library may hand over, as a RESP2 shape.

    Raises TypeError for a type that no Redis reply has.
    """
    if value is None or isinstance(value, (bytes, ReplyError)):
        return value
    if isinstance(value, int):
        return int(value)
    if isinstance(value, str):
        return value.encode("utf-8", "surrogateescape")
    if isinstance(value, float):
        return format(value, ".17g").encode("ascii")
    if isinstance(value, dict):
        return [flatten(item) for pair in value.items() for item in pair]
    if isinstance(value, Sequence):
        return [flatten(item) for item in value]
    raise TypeError(f"no RESP2 shape for a reply of type {type(value).__name__}")
