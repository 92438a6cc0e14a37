"""Headings that fit a small screen: the longest word of each is measured when a page is published, for no style sheet can.

A word that is wider than the screen breaks anywhere, and a browser may have no hyphenation for its language. So the heading gets
a class that names the width of its longest word, and the style sheet makes it no larger than that allows (`.fit` in base.css).
"""

from __future__ import annotations

import re
import unicodedata

from markupsafe import Markup

#: In letters of average width. Shorter words fit in any size that a brand takes; longer ones than the longest have to break.
SHORTEST, LONGEST = 6, 24
_SLOT = re.compile(r"\{\{.*?\}\}")
_WORDS = re.compile(r"[^\s\-\u2010-\u2015/\u00ad\u200b]+")
# Written without blanks: a line may end at almost any letter.
_NO_WORDS = frozenset({"ja", "zh", "th", "lo", "km", "my"})


def longest_word(text: str, language: str) -> int:
    """Width of the longest word of a text in letters of average width; what slots hold is not known and counts nothing."""
    if language.split("-")[0] in _NO_WORDS:
        return 0
    words = _WORDS.findall(_SLOT.sub(" ", text))
    return max((round(sum(map(_width, word))) for word in words), default=0)


def fitted(message: Markup, plain: str, language: str) -> Markup:
    """A heading in an element that says how long its longest word is."""
    width = longest_word(plain, language)
    if width < SHORTEST:
        return message
    return Markup('<span class="fit w{}">{}</span>').format(min(width, LONGEST), message)


def _width(letter: str) -> float:
    if unicodedata.combining(letter) or unicodedata.category(letter) in ("Mn", "Me", "Cf"):
        return 0.0
    if unicodedata.east_asian_width(letter) in ("W", "F"):
        return 1.7
    return 1.35 if letter in "mwMWшщжюыфмШЩЖЮЫФМ" else 0.6 if letter in "ijlI.,:;'!|’ı" else 0.85 if letter in "ftr" else 1.0
