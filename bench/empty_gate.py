"""A component that decides nothing: the base that a call of the gate is measured against."""

from __future__ import annotations

import wit_world

_WANTS = '{"version": "0", "headers": [], "answer_headers": [], "private_prefix": "stanchion-"}'


class WitWorld(wit_world.WitWorld):
    def wants(self) -> str:
        return _WANTS

    def decide(self, request: str, replies: str) -> str:
        return "forward\n\n"

    def conclude(self, request: str, context: str, answer: str) -> str:
        return "answer\n\n"
