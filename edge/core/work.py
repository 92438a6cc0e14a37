"""Proof of work: a place in line costs the asking machine some computing, so that many places cost much.

The challenge is the id in the candidate's signed cookie, so nothing has to be remembered: find the smallest `count` whole numbers
n from 0 for which SHA-256 of "<text>:<n>" begins with `bits` zero bits, and send them with the candidate's cookie. Several small
tasks instead of a large one, since the time for eight together varies by a third of it and not by the whole.
"""

from __future__ import annotations

import hashlib
from dataclasses import dataclass

from edge.core.model import Queue

HEADER = "stanchion-work"
COUNT = 8
_COUNT_BITS = 3  # of 2 ** proof_of_work_bits hashes each of the eight has an eighth
_DIGITS_AT_MOST = 15


@dataclass(frozen=True, slots=True)
class Challenge:
    """What a candidate has to solve."""

    text: str
    bits: int
    count: int = COUNT

    def public(self) -> dict[str, object]:
        """As the status JSON has it."""
        return {"text": self.text, "bits": self.bits, "count": self.count}


def challenge_for(queue: Queue, visitor: str) -> Challenge | None:
    """The challenge of a candidate; None where the queue asks for no work."""
    bits = queue.proof_of_work_bits
    return None if bits is None else Challenge(visitor, bits - _COUNT_BITS)


def is_solved(challenge: Challenge, solution: str) -> bool:
    """Whether a solution, "n,n,..." in rising order, is one. They need not be the smallest."""
    numbers, last = solution.split(",", challenge.count), -1
    if len(numbers) != challenge.count:
        return False
    for text in map(str.strip, numbers):
        if not (text.isascii() and text.isdigit()) or len(text) > _DIGITS_AT_MOST or int(text) <= last:
            return False
        last = int(text)
        digest = hashlib.sha256(f"{challenge.text}:{last}".encode()).digest()
        if int.from_bytes(digest[:4], "big") >> (32 - challenge.bits):
            return False
    return True


def solve(challenge: Challenge) -> str:
    """A solution: what a client does, for tests and tools."""
    found: list[str] = []
    number = 0
    while len(found) < challenge.count:
        digest = hashlib.sha256(f"{challenge.text}:{number}".encode()).digest()
        if not int.from_bytes(digest[:4], "big") >> (32 - challenge.bits):
            found.append(str(number))
        number += 1
    return ",".join(found)
