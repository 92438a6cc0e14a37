"""The slip in a style sheet that browsers pass over in silence, and that costs all rules behind it: a brace without its half."""

from __future__ import annotations

import re

_TOKENS = re.compile(r"/\*.*?(?:\*/|\Z)|\"(?:[^\"\\\n]|\\.)*\"|'(?:[^'\\\n]|\\.)*'|[{}]", re.DOTALL)


def unbalanced_line(css: str) -> int:
    """The line (from 1) of the first brace that has no other half; 0 when all have. Comments and texts are passed over."""
    opened: list[int] = []
    for token in _TOKENS.finditer(css):
        if token[0] == "{":
            opened.append(token.start())
        elif token[0] == "}":
            if not opened:
                return css.count("\n", 0, token.start()) + 1
            opened.pop()
    return css.count("\n", 0, opened[0]) + 1 if opened else 0
