"""Where a line of a rendered page comes from: the file of the brand or the base, and the line in it.

A page that fails a check is rendered once more with a mark before each line of the sources, so that nothing of this costs anybody
whose pages are fit. A mark is a character that no page holds (a noncharacter of Unicode), a number, and the same character.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from jinja2 import Environment, nodes
from jinja2.ext import Extension
from jinja2.lexer import Token, TokenStream

Place = tuple[str, int]  # file, line from 1

_EDGE = "\ufdd0"
_MARK = re.compile(f"{_EDGE}([0-9]+){_EDGE}")


class Marks:
    """The places that the marks of one rendering stand for."""

    def __init__(self) -> None:
        self._places: list[Place] = []

    def put_into(self, environment: Environment) -> None:
        """Lets an environment that has loaded nothing yet put marks into its pages."""
        environment.extend(marks=self)
        environment.add_extension(Marking)

    def text(self, text: str, file: str, first_line: int = 1) -> str:
        """`text`, which begins on that line of the file, with a mark before each of its lines."""
        return "\n".join(self._mark(file, first_line + step) + line for step, line in enumerate(text.split("\n")))

    def _mark(self, file: str, line: int) -> str:
        self._places.append((file, line))
        return f"{_EDGE}{len(self._places) - 1}{_EDGE}"

    def place(self, page: str, line: int, column: int, text: str) -> Place | None:
        """The place of a column (from 0) of a line (from 1) of the marked page; `text`: what stands on that line.

        None where the marks do not lead to such a line.
        """
        lines = page.split("\n")
        near = sorted(range(len(lines)), key=lambda at: abs(at - (line - 1)))
        at = next((at for at in near if without_marks(lines[at]).strip() == text.strip()), None)
        if at is None:
            return None
        marked = lines[at]
        indent = len(without_marks(marked)) - len(without_marks(marked).lstrip())
        passed, found = 0, None
        for piece in re.split(f"({_MARK.pattern.replace('(', '').replace(')', '')})", marked):
            if mark := _MARK.fullmatch(piece):
                if found is None or passed <= column + indent:
                    found = self._places[int(mark[1])]
            else:
                passed += len(piece)
        return found or self._before(lines, at)

    def _before(self, lines: list[str], at: int) -> Place | None:
        """The place of the last mark above: the line was made by an expression of several lines."""
        for line in reversed(lines[:at]):
            if marks := _MARK.findall(line):
                return self._places[int(marks[-1])]
        return None


def without_marks(text: str) -> str:
    """The text as it is rendered for people."""
    return _MARK.sub("", text)


class Marking(Extension):
    """Puts the marks of `environment.marks` into what templates hold as it is, line by line."""

    def filter_stream(self, stream: TokenStream) -> Iterator[Token]:
        """The tokens of a template, those of its text marked."""
        marks: Marks = self.environment.marks  # type: ignore[attr-defined]
        file = stream.filename or str(stream.name)
        for token in stream:
            if token.type == "data":
                yield Token(token.lineno, "data", marks.text(token.value, file, token.lineno))
            else:
                yield token

    def parse(self, parser: object) -> list[nodes.Node]:
        """There is no tag of ours."""
        return []
