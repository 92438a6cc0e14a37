"""The messages of `wit/gatekeeper.wit`: read from text, written as text. Fixed order of fields, so that reading is one split."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from edge.core import quick_json
from edge.core.messages import Batch, Decision, Forward, Reply, Request
from edge.core.scripts import Flavour

# Those that the configuration names (rules of lanes) come on top, see `wants`.
REQUEST_HEADERS = (
    "accept", "accept-language", "access-control-request-method", "cookie", "origin", "purpose", "referer", "sec-fetch-dest",
    "sec-fetch-mode", "sec-fetch-site", "sec-purpose", "stanchion-token", "stanchion-work", "x-moz",
)  # fmt: skip


def read_request(text: str) -> tuple[Request, str]:
    """The request, and the generation of the store (a text; empty: unknown).

    The fields stand in the order of the WIT file; each number below is the length of the name before the value.
    """
    start, scheme, host, client, country, now_ms, random, generation, request_id, *rest = text.split("\n")
    method, _, target = start.partition(" ")
    headers: dict[str, str] = {}
    for line in rest:
        name, found, value = line.partition(": ")
        if found:
            name = name[2:]
            headers[name] = f"{headers[name]}, {value}" if name in headers else value
    request = Request(method, target, scheme[8:], host[6:], client[8:], country[9:], int(now_ms[8:]), random[8:], request_id[4:],
                      headers)  # fmt: skip
    return request, generation[4:]


def _reply(item: dict[str, Any]) -> Reply:
    if "failed" in item:
        stale = item.get("stale")
        return Reply((), 0, item["failed"], int(item.get("away_ms", 0)), _reply(stale) if stale else None)
    return Reply(item["results"], int(item.get("age_ms", 0)))


def read_replies(text: str) -> dict[str, Reply]:
    """The replies so far by the names of their batches."""
    return {item["name"]: _reply(item) for item in quick_json.read(text)} if text else {}


def read_answer(text: str) -> tuple[int, list[tuple[str, str]]]:
    """Status and headers of the origin's answer."""
    status, *lines = text.split("\n")
    parts = (line.partition(": ") for line in lines if line)
    return int(status.split()[-1]), [(name[2:], value) for name, _, value in parts]


def _joined(lines: list[str]) -> str:
    """The lines of a head, of which no value smuggles in another."""
    text = "\n".join(lines)
    if "\r" in text or text.count("\n") >= len(lines):
        text = "\n".join(line.replace("\r", " ").replace("\n", " ") for line in lines)
    return text


def write_batch(batch: Batch, flavour: Flavour) -> str:
    """The step that asks for commands."""
    shared = f"shared: {batch.name.removesuffix(' in full')} {batch.max_age_ms}\n" if batch.is_shared else ""
    return f"commands\nname: {batch.name}\n{shared}\n{batch.body(flavour)}"


def write_decision(decision: Decision) -> str:
    """The step that ends a decision."""
    if isinstance(decision, Forward):
        lines = ["forward"]
        if decision.queue_id:
            lines.append(f"queue: {decision.queue_id}")
        if decision.cookie is not None:
            lines.append(f"cookie: {decision.cookie}")
        if decision.origin_pass:
            lines.append(f"pass: {decision.origin_pass}")
        if decision.context:
            lines.append(f"conclude: {decision.context}")
        lines.append(f"why: {decision.why}")
        return f"{_joined(lines)}\n\n"
    lines = [f"respond {decision.status}", f"why: {decision.why}"]
    for name, value in decision.headers:
        lines.append(f"h.{name}: {value}")
    return f"{_joined(lines)}\n\n{decision.text}"


def write_conclusion(headers: Sequence[tuple[str, str]], commands: Sequence[Sequence[str]]) -> str:
    """What happens to the origin's answer."""
    head = _joined(["answer", *(f"h.{name}: {value}" for name, value in headers)])
    return f"{head}\n\n" + (quick_json.write(commands) if commands else "")
