"""The one error of publishing."""

from __future__ import annotations


class PublishError(Exception):
    """Nothing was published. `file` and `line` (from 1; 0: the whole file) say where, `what` says why and what to do.

    `field`: the key of brand.json that is at fault, as a form names it (`logo`, `texts.de.called.button`); empty for all else.
    `column` (from 0) is known where a page was read.
    """

    def __init__(self, file: str, line: int, what: str, field: str = "", column: int = 0) -> None:
        super().__init__(f"{file}:{line}: {what}" if line else f"{file}: {what}")
        self.file = file
        self.line = line
        self.what = what
        self.field = field
        self.column = column


class TooLargeError(PublishError):
    """A page of more bytes than a visitor should load."""
