"""The draw: the order of a pre-queue as a keyed permutation of the arrival numbers, recomputable by anyone (design.md, 6).

The seed is fixed before opening and its commitment published; the key is the seed with a later public random value mixed in; a
place is computed from the key, the line, the number and N alone. `edge/core/scripts/draw.lua` is the same in Lua. All hashes are
lower-case hex. SHA-1 stands in the round function and in the chain because scripts in Redis have no other; keyed by 256 bits
that are unknown until N is fixed, its weakness against chosen collisions is of no use there.
"""

from __future__ import annotations

import hashlib
import hmac
from collections.abc import Iterable

ROUNDS = 8
_ASKED_HEX = 8  # digits of a digest that one round uses: halves of up to 32 bits


def seed(master: bytes, scope: str, epoch: str, opens_at_ms: int) -> str:
    """The seed of one opening: HMAC-SHA256 of scope, epoch and opening time (Unix ms) under the master key."""
    return hmac.digest(master, f"stanchion draw {scope} {epoch} {opens_at_ms}".encode(), "sha256").hex()


def commitment(seed_hex: str) -> str:
    """What is published before opening: SHA-256 of the seed's 32 bytes. Raises ValueError when it is not hex."""
    return hashlib.sha256(bytes.fromhex(seed_hex)).hexdigest()


def key(seed_hex: str, beacon: str = "") -> str:
    """The key of the permutation: HMAC-SHA256 of the beacon's value (UTF-8, empty without one) under the seed's bytes."""
    return hmac.digest(bytes.fromhex(seed_hex), beacon.encode(), "sha256").hex()


def _mix(key_hex: str, line: int, number: int, half: int) -> int:
    digest = hashlib.sha1(f"{key_hex}:{line}:{number}:{half}".encode(), usedforsecurity=False).hexdigest()
    return int(digest[:_ASKED_HEX], 16)


def _half_bits(count: int) -> int:
    bits = 1
    while 4**bits < count:
        bits += 1
    return bits


def _permute(key_hex: str, line: int, value: int, bits: int) -> int:
    """One pass of the balanced Feistel network over 2 * `bits` bits."""
    left, right, mask = value >> bits, value & ((1 << bits) - 1), (1 << bits) - 1
    for number in range(ROUNDS):
        left, right = right, left ^ (_mix(key_hex, line, number, right) & mask)
    return left << bits | right


def place(key_hex: str, line: int, number: int, count: int) -> int:
    """The place, 1 to `count`, of arrival `number` among the `count` of a line. Raises ValueError for a number outside 1..count.

    Walks the cycle until the value is within the count: at most four steps on average, for the domain is less than four times it.
    """
    if not 1 <= number <= count:
        raise ValueError(f"arrival {number} is not among the {count} of this line")
    bits, value = _half_bits(count), number - 1
    while True:
        value = _permute(key_hex, line, value, bits)
        if value < count:
            return value + 1


def visitor_hash(visitor: str) -> str:
    """How a visitor stands in the chain: SHA-1 of the id, which is 96 random bits that nobody else knows."""
    return hashlib.sha1(visitor.encode(), usedforsecurity=False).hexdigest()


def chain_step(head: str, line: int, number: int, visitor_sha1: str) -> str:
    """The head of the chain after one more arrival; it begins as an empty text."""
    return hashlib.sha1(f"{head}:{line}:{number}:{visitor_sha1}".encode(), usedforsecurity=False).hexdigest()


def chain_head(arrivals: Iterable[tuple[int, int, str]]) -> str:
    """The head of the chain after all arrivals, each as (line, number, SHA-1 of the visitor), in the order in which they came."""
    head = ""
    for line, number, visitor_sha1 in arrivals:
        head = chain_step(head, line, number, visitor_sha1)
    return head
