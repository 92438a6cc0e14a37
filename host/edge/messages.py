"""The messages of `wit/gatekeeper.wit`, written and read exactly as its comments say.

Nothing here trusts either side: what a visitor or an origin sent cannot smuggle a line into a message, and
what the guest answers is checked before it becomes a header, a status or a command.
"""

from __future__ import annotations

import json
import re
from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass

Headers = Sequence[tuple[bytes, bytes]]

# More commands than any step needs; a guest gone astray must not flood the store.
MAX_COMMANDS_PER_BATCH = 64
MAX_SHARED_AGE_MS = 60_000
_NAME = re.compile(r"[!#$%&'*+.^_`|~0-9A-Za-z-]+\Z")
# RFC 9110, section 5.5: tab, visible ASCII, blank, and bytes above 0x7f that are passed on unread.
_VALUE = re.compile(r"[\t\x20-\x7e\x80-\xff]*\Z")
_BREAKS = re.compile(r"[\r\0]")
_PART = (str, int, float)
# The host frames its own answers.
_FRAMING = frozenset(("connection", "content-length", "date", "keep-alive", "transfer-encoding", "upgrade"))


class MessageError(ValueError):
    """A value of a visitor or an origin does not fit into a message. The text says which kind of value."""


class StepError(ValueError):
    """The guest's answer breaks the contract. The text says how."""


@dataclass(frozen=True, slots=True)
class Facts:
    """What the edge knows of one request; header names are lower-case, values as they were sent."""

    method: str
    target: bytes
    scheme: str
    host: str
    client: str
    country: str
    id: str
    random: str
    headers: Headers


@dataclass(frozen=True, slots=True)
class Commands:
    """A batch to run: `body` is its JSON. `shared_key` is None for a batch of this request alone."""

    body: str
    shared_key: str | None = None
    max_age_ms: int = 0
    name: str = ""


@dataclass(frozen=True, slots=True)
class Forward:
    """The request may go to the origin. None means that the step does not name the field."""

    queue: str | None = None
    cookie: bytes | None = None
    admission_pass: bytes | None = None
    conclude: str | None = None
    why: str = ""


@dataclass(frozen=True, slots=True)
class Respond:
    """The visitor gets this answer and the origin hears nothing."""

    status: int
    headers: tuple[tuple[bytes, bytes], ...]
    body: bytes
    why: str = ""


@dataclass(frozen=True, slots=True)
class Conclusion:
    """What `conclude` adds to the origin's answer, and the JSON of the commands to run, or ""."""

    headers: tuple[tuple[bytes, bytes], ...]
    commands: str


Step = Commands | Forward | Respond


def request_message(facts: Facts, wanted: Collection[bytes], now_ms: int, kv_generation: str) -> str:
    """The request as `decide` and `conclude` read it. Raises MessageError for a break or NUL in a value."""
    lines = [
        f"{facts.method} {facts.target.decode('latin-1')}",
        f"scheme: {facts.scheme}",
        f"host: {facts.host}",
        f"client: {facts.client}",
        f"country: {facts.country}",
        f"now-ms: {now_ms}",
        f"random: {facts.random}",
        f"kv: {kv_generation}",
        f"id: {facts.id}",
    ]
    cookies: list[bytes] = []
    for name, value in facts.headers:
        if name in wanted:
            if name == b"cookie":
                cookies.append(value)
            else:
                lines.append(f"h.{name.decode('latin-1')}: {value.decode('latin-1')}")
    if cookies:
        lines.append(f"h.cookie: {b'; '.join(cookies).decode('latin-1')}")
    return _joined(lines, "the request")


def answer_message(status: int, headers: Headers, wanted: Collection[bytes], private_prefix: bytes) -> str:
    """The origin's answer as `conclude` reads it. Raises MessageError."""
    lines = [str(status)]
    for name, value in headers:
        lower = name.lower()
        if lower in wanted or is_private(lower, private_prefix):
            lines.append(f"h.{lower.decode('latin-1')}: {value.decode('latin-1')}")
    return _joined(lines, "the origin's answer")


def is_private(lower_name: bytes, private_prefix: bytes) -> bool:
    """Whether a header is the gate's own. "_" counts as "-": CGI and WSGI make one variable of both."""
    return lower_name.replace(b"_", b"-").startswith(private_prefix)


def _joined(lines: list[str], what: str) -> str:
    text = "\n".join(lines)
    if text.count("\n") != len(lines) - 1 or _BREAKS.search(text):
        raise MessageError(f"a value in {what} holds a line break or a NUL")
    return text


def parse_step(text: str) -> Step:
    """One answer of `decide`. Raises StepError."""
    head, _, body = text.partition("\n\n")
    start, *lines = head.split("\n")
    verb, _, argument = start.partition(" ")
    fields = _fields(lines)
    if verb == "forward":
        return _forward(fields)
    if verb == "respond":
        return _respond(argument, fields, body)
    if verb == "commands":
        return _commands(fields, body)
    raise StepError(f"a step starts with {start[:60]!r}")


def named(name: str, reply: str) -> str:
    """The reply to a batch, a JSON object, with the name of that batch."""
    return f'{{"name":{json.dumps(name)},{reply.lstrip()[1:]}'


def parse_conclusion(text: str) -> Conclusion:
    """One answer of `conclude`. Raises StepError."""
    head, _, body = text.partition("\n\n")
    start, *lines = head.split("\n")
    if start != "answer":
        raise StepError(f"a conclusion starts with {start[:60]!r}")
    body = body.strip()
    commands = "" if body in ("", "[]") else body
    if commands:
        command_count(commands)
    return Conclusion(_headers(_fields(lines)), commands)


def command_count(body: str) -> int:
    """The number of commands in a batch's JSON. Raises StepError when it is no list of commands."""
    try:
        batch = json.loads(body)
    except ValueError as error:
        raise StepError(f"a batch of commands is not JSON: {error}") from None
    if not isinstance(batch, list) or not 1 <= len(batch) <= MAX_COMMANDS_PER_BATCH:
        raise StepError(f"a batch is a list of 1 to {MAX_COMMANDS_PER_BATCH} commands")
    for command in batch:
        whole = (
            isinstance(command, list)
            and command
            and all(isinstance(part, str | int | float) for part in command)
        )
        if not whole:
            raise StepError("a command is a list of strings and numbers, not empty")
    return len(batch)


def _fields(lines: Iterable[str]) -> list[tuple[str, str]]:
    fields = []
    for line in lines:
        name, colon, value = line.partition(":")
        if colon:
            fields.append((name, value.removeprefix(" ")))
        elif line:
            raise StepError(f"a line is no field: {line[:60]!r}")
    return fields


def _forward(fields: list[tuple[str, str]]) -> Forward:
    named = dict(fields)
    cookie, admission_pass = named.get("cookie"), named.get("pass")
    return Forward(
        queue=named.get("queue"),
        cookie=None if cookie is None else _value(cookie, "cookie"),
        admission_pass=None if admission_pass is None else _value(admission_pass, "pass"),
        conclude=named.get("conclude"),
        why=named.get("why", ""),
    )


def _respond(argument: str, fields: list[tuple[str, str]], body: str) -> Respond:
    if not re.fullmatch(r"[2-5][0-9][0-9]", argument):
        raise StepError(f"a response has the status {argument[:60]!r}")
    return Respond(int(argument), _headers(fields), body.encode(), dict(fields).get("why", ""))


def _commands(fields: list[tuple[str, str]], body: str) -> Commands:
    shared, name = dict(fields).get("shared"), dict(fields).get("name", "")
    if shared is None:
        return Commands(body, name=name)
    key, _, age = shared.rpartition(" ")
    if not key or not re.fullmatch(r"[0-9]{1,9}", age):
        raise StepError(f"shared is no key and age: {shared[:60]!r}")
    return Commands(body, key, min(int(age), MAX_SHARED_AGE_MS), name)


def _headers(fields: list[tuple[str, str]]) -> tuple[tuple[bytes, bytes], ...]:
    headers = []
    for field, value in fields:
        name = field.removeprefix("h.")
        if name == field or name.lower() in _FRAMING:
            continue
        if not _NAME.match(name):
            raise StepError(f"a header has the name {name[:60]!r}")
        headers.append((name.encode(), _value(value, name)))
    return tuple(headers)


def _value(value: str, name: str) -> bytes:
    if not _VALUE.match(value):
        raise StepError(f"the value of {name} holds a control character, or one that is no byte")
    return value.encode("latin-1")
