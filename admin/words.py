"""The console's language: `_("…")` and `ngettext` in the language of the request; English is the text in the source itself.

Placeholders are named: `_("%(count)s people wait") % {"count": n}`. `N_` marks a text that is translated where it is shown.
Catalogues are `templates/console/locale/<language>/LC_MESSAGES/console.po`, read when the app starts.
"""

from __future__ import annotations

import gettext as library
import io
from contextvars import ContextVar
from functools import cache
from pathlib import Path

from babel.messages.mofile import write_mo
from babel.messages.pofile import read_po

LOCALES = Path(__file__).resolve().parents[1] / "templates" / "console" / "locale"
DOMAIN = "console"
ENGLISH = "en"
# In their own names, as the switch shows them.
LANGUAGES = {ENGLISH: "English", "ja": "日本語"}
_language: ContextVar[str] = ContextVar("console_language", default=ENGLISH)


@cache
def _catalogue(language: str) -> library.NullTranslations:
    file = LOCALES / language / "LC_MESSAGES" / f"{DOMAIN}.po"
    if language == ENGLISH or not file.is_file():
        return library.NullTranslations()
    compiled = io.BytesIO()
    with file.open("rb") as stream:
        write_mo(compiled, read_po(stream, locale=language, domain=DOMAIN))
    compiled.seek(0)
    return library.GNUTranslations(compiled)


def gettext(message: str) -> str:
    """The message in the language of the request."""
    # The empty message stands for the catalogue's own head.
    return _catalogue(_language.get()).gettext(message) if message else ""


def ngettext(one: str, many: str, count: int) -> str:
    """The message for this many."""
    return _catalogue(_language.get()).ngettext(one, many, count)


_ = gettext


def N_(message: str) -> str:
    """Marks a message of a table; it is translated where it is shown."""
    return message


def language() -> str:
    """The language of the request: a key of LANGUAGES."""
    return _language.get()


def use_language(name: str) -> None:
    """Sets the language of this request; one that is not on offer is English."""
    _language.set(name if name in LANGUAGES else ENGLISH)


def accepted(header: str) -> str:
    """The first language of an Accept-Language header that is on offer, by the order in it; else English."""
    for part in header.split(","):
        name = part.partition(";")[0].strip().lower().partition("-")[0]
        if name in LANGUAGES:
            return name
    return ENGLISH
