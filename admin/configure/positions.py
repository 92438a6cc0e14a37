"""On which line of a JSON text each of its values stands: an editor shows faults there."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from dataclasses import replace

from admin.configure.faults import Fault, place

_MARK = re.compile(r'"(?:[^"\\]|\\.)*"|[][{}:,]|[^][{}:,"\s]+|\n', re.DOTALL)


def lines_of(text: str) -> dict[str, int]:
    """The line (from 1) of each value by its path, such as `queues[0].id`. The text is JSON."""
    return {place(parts): line for parts, line in _walk(text)}


def _walk(text: str) -> Iterator[tuple[tuple[int | str, ...], int]]:
    """Every key's and member's place with its line. A stack of open objects and lists: the key or index that is being read."""
    stack: list[int | str | None] = []
    key: str | None = None
    line = 1
    for mark in _MARK.findall(text):
        if mark == "\n":
            line += 1
        elif mark in "{[":
            if stack or mark == "{":
                yield _here(stack, key), line
            stack, key = _opened(stack, key), None
            stack.append(0 if mark == "[" else None)
        elif mark in "}]":
            stack.pop()
            key = None
        elif mark == ",":
            key = None
            top = stack[-1]
            if isinstance(top, int):
                stack[-1] = top + 1
        elif mark != ":":
            if stack and not isinstance(stack[-1], int) and key is None:
                key = str(json.loads(mark))
                stack[-1] = None
                yield _here(stack, key), line
            else:
                yield _here(stack, key), line
            line += mark.count("\n")


def _opened(stack: list[int | str | None], key: str | None) -> list[int | str | None]:
    """The open objects and lists, with the key under which the next one stands."""
    return [*stack[:-1], key] if stack and not isinstance(stack[-1], int) else stack


def _here(stack: list[int | str | None], key: str | None) -> tuple[int | str, ...]:
    parts = [part for part in stack if part is not None]
    is_object = bool(stack) and not isinstance(stack[-1], int)
    return (*parts, key) if is_object and key is not None else tuple(parts)


def with_lines(faults: tuple[Fault, ...] | list[Fault], text: str) -> list[Fault]:
    """The faults with their lines: of their place, or of what it stands in where something is missing."""
    try:
        json.loads(text)
    except (ValueError, RecursionError):
        return list(faults)
    known = lines_of(text)
    return [fault if fault.line else replace(fault, line=_nearest(fault.path, known)) for fault in faults]


def _nearest(path: str, known: dict[str, int]) -> int:
    while path and path not in known:
        path = path[: max(path.rfind("."), path.rfind("["), 0)]
    return known.get(path, 0)
