"""A gate that does what the request tells it: the header `X-Script` is a JSON array of steps.

A step is the text of a step of the contract, or one of the words below, so that every part of the host is
proven on a real component without a line of the product's own gate.
"""

from __future__ import annotations

import json

import wit_world
from wit_world.imports import kv, log, secrets, settings

WANTED = ["cookie", "x-script", "x-conclude", "accept", "x-twice"]
ANSWER_WANTED = ["cache-control", "set-cookie"]
GROWTH_BYTES = 16 * 1024 * 1024

calls = 0
hoard: list[bytes] = []


def field(message: str, name: str) -> str | None:
    start = f"{name}: "
    return next((line[len(start) :] for line in message.split("\n") if line.startswith(start)), None)


def respond(body: str) -> str:
    return f"respond 200\nwhy: scripted\nh.content-type: text/plain; charset=utf-8\n\n{body}"


def run(word: str, request: str, replies: str) -> str:
    """Words: echo, replies, calls, trap, loop, grow, log <line>, kv <key>, setting <name>, secret <name>."""
    name, _, argument = word.partition(" ")
    if name == "echo":
        return respond(request)
    if name == "replies":
        return respond(replies)
    if name == "calls":
        return respond(str(calls))
    if name == "trap":
        raise RuntimeError(f"scripted trap {argument}")
    if name == "trap-once" and calls > int(argument):
        raise RuntimeError("scripted trap of an instance in use")
    if name == "trap-once":
        return respond("answered by a fresh instance")
    if name == "loop":
        while True:
            pass
    if name == "grow":
        while True:
            hoard.append(bytes(GROWTH_BYTES))
    if name == "log":
        log.write(argument)
        return respond("logged")
    if name == "kv":
        found = kv.get(argument)
        return respond(f"{type(found).__name__} {getattr(found, 'value', '')}")
    if name == "setting":
        return respond(repr(settings.get(argument)))
    if name == "secret":
        return respond(repr(secrets.get(argument)))
    return word


class WitWorld(wit_world.WitWorld):
    def wants(self) -> str:
        return json.dumps(
            {
                "version": "scripted",
                "headers": WANTED,
                "answer_headers": ANSWER_WANTED,
                "private_prefix": "stanchion-",
            }
        )

    def decide(self, request: str, replies: str) -> str:
        global calls
        calls += 1
        script = field(request, "h.x-script")
        if script is None:
            return "forward\nwhy: no script\n"
        steps = json.loads(script)
        done = len(json.loads(replies)) if replies else 0
        return run(steps[min(done, len(steps) - 1)], request, replies)

    def conclude(self, request: str, context: str, answer: str) -> str:
        script = field(request, "h.x-conclude")
        step = "answer\nh.x-seen: {context}|{answer}\n\n" if script is None else json.loads(script)
        seen = answer.replace("\n", "|")
        if "{request}" in step:
            step = step.replace("{request}", request.replace("\n", "|"))
        return run(step, request, "").replace("{context}", context).replace("{answer}", seen)
