"""`bit`, as LuaBitOp defines it: 32-bit integers, results signed.

Each function returns (True, result) or (False, problem).
"""

from __future__ import annotations

import math
from collections.abc import Callable
from functools import reduce
from operator import and_, or_, xor
from typing import Any

_MASK = 0xFFFFFFFF
Outcome = tuple[bool, Any]


def _unsigned(value: Any) -> int:
    if isinstance(value, bytes):
        value = float(value)  # Lua turns a numeric string into a number
    if isinstance(value, bool) or not isinstance(value, (int, float)) or not math.isfinite(value):
        raise ValueError("number expected")
    return round(value) & _MASK


def _signed(value: int) -> int:
    value &= _MASK
    return value - 2**32 if value & 0x80000000 else value


def _guarded(name: str, function: Callable[..., Any], arguments: int) -> Callable[..., Outcome]:
    def call(*args: Any) -> Outcome:
        if len(args) < arguments:
            return False, f"bad argument #{arguments} to '{name}' (number expected, got no value)".encode()
        try:
            return True, function(*map(_unsigned, args))
        except (TypeError, ValueError):
            return False, f"bad argument to '{name}' (number expected)".encode()

    return call


def _tohex(value: int, digits: int = 8) -> bytes:
    count = _signed(digits)
    text = f"{value:08x}"[-min(abs(count), 8) :] if count else ""
    return (text.upper() if count < 0 else text).encode()


def _rol(value: int, shift: int) -> int:
    shift &= 31
    return _signed(value << shift | value >> (32 - shift))


_TABLE: list[tuple[str, Callable[..., Any], int]] = [
    ("tobit", _signed, 1),
    ("bnot", lambda a: _signed(~a), 1),
    ("band", lambda *a: _signed(reduce(and_, a)), 1),
    ("bor", lambda *a: _signed(reduce(or_, a)), 1),
    ("bxor", lambda *a: _signed(reduce(xor, a)), 1),
    ("lshift", lambda a, n: _signed(a << (n & 31)), 2),
    ("rshift", lambda a, n: _signed(a >> (n & 31)), 2),
    ("arshift", lambda a, n: _signed(_signed(a) >> (n & 31)), 2),
    ("rol", _rol, 2),
    ("ror", lambda a, n: _rol(a, 32 - (n & 31)), 2),
    ("bswap", lambda a: _signed(int.from_bytes(a.to_bytes(4, "little"), "big")), 1),
    ("tohex", _tohex, 1),
]

FUNCTIONS: dict[bytes, Callable[..., Outcome]] = {
    name.encode(): _guarded(name, function, arguments) for name, function, arguments in _TABLE
}
