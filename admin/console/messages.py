"""`python -m admin.console.messages`: brings the console's catalogues up to the messages of its templates and sources.

Translations stay, new messages come in empty, and what is no longer said goes. Exit code 1 when a person has something to do.
"""

from __future__ import annotations

import io
import re
import sys
from collections.abc import Iterator
from pathlib import Path

from babel import Locale
from babel.messages.catalog import Catalog, Message
from babel.messages.extract import extract_from_file
from babel.messages.pofile import read_po, write_po

from admin.words import DOMAIN, ENGLISH, LANGUAGES, LOCALES

ROOT = Path(__file__).resolve().parents[2]
KEYWORDS = {"_": None, "gettext": None, "N_": None, "ngettext": (1, 2)}
_JINJA = {"silent": "false", "trimmed": "true", "newstyle_gettext": "true"}
_NOISE = re.compile(
    r'"(POT-Creation-Date|PO-Revision-Date|Last-Translator|Language-Team|Report-Msgid-Bugs-To|Generated-By):.*\n'
)
_NAMED = re.compile(r"%\((\w+)\)[sd]")
_WIDTH = 120


def catalogue_file(language: str) -> Path:
    """Where the catalogue of a language is."""
    return LOCALES / language / "LC_MESSAGES" / f"{DOMAIN}.po"


def extracted() -> Catalog:
    """Every message of the console, once."""
    found = Catalog(project="Stanchion", version="1", charset="utf-8", fuzzy=False)
    for file, method in _sources():
        options = dict(_JINJA) if method != "python" else {}
        for _line, message, _comments, _context in extract_from_file(method, file, keywords=KEYWORDS, options=options):
            found.add(message)
    return found


def _sources() -> Iterator[tuple[Path, str]]:
    for file in sorted((ROOT / "templates" / "console").rglob("*.html")):
        yield file, "jinja2.ext:babel_extract"
    for file in sorted((ROOT / "admin").rglob("*.py")):
        # The waiting pages have catalogues of their own.
        if "publish" not in file.relative_to(ROOT / "admin").parts[:1] and file.name != "messages.py":
            yield file, "python"


def read(language: str) -> Catalog:
    """The catalogue of a language, empty when there is none."""
    file = catalogue_file(language)
    if not file.is_file():
        return Catalog(locale=Locale.parse(language))
    with file.open("rb") as stream:
        return read_po(stream, locale=language, domain=DOMAIN, abort_invalid=True, ignore_obsolete=True)


def updated(language: str, messages: Catalog) -> Catalog:
    """The catalogue of a language with these messages and what is known of their translations."""
    known = read(language)
    result = Catalog(locale=Locale.parse(language), project="Stanchion", version="1", charset="utf-8", fuzzy=False)
    result.header_comment = f"# The console's messages: {Locale.parse(language).english_name}."
    for message in messages:
        if message.id:
            before = known.get(message.id[0] if isinstance(message.id, tuple) else message.id)
            string = before.string if before and isinstance(before.id, tuple) == isinstance(message.id, tuple) else None
            result.add(message.id, string)
    return result


def text_of(catalogue: Catalog) -> str:
    """A catalogue as its file holds it."""
    written = io.BytesIO()
    write_po(written, catalogue, width=_WIDTH, ignore_obsolete=True, no_location=True, sort_output=True)
    return _NOISE.sub("", written.getvalue().decode("utf-8"))


def faults(catalogue: Catalog) -> Iterator[str]:
    """What is missing in a catalogue, or says a value that the English does not."""
    for message in catalogue:
        if message.id:
            yield from _faults(message)


def _faults(message: Message) -> Iterator[str]:
    english = [str(text) for text in (message.id if isinstance(message.id, tuple) else (message.id,))]
    strings = [str(text or "") for text in (message.string if isinstance(message.string, tuple) else (message.string,))]
    allowed = set().union(*(_NAMED.findall(text) for text in english))
    for string in strings:
        if not string:
            yield f"{english[0]!r} is not translated"
        elif set(_NAMED.findall(string)) - allowed or (len(english) == 1 and set(_NAMED.findall(string)) != allowed):
            yield f"{english[0]!r}: the translation has other values in it"


def main() -> int:
    """Writes the catalogues; returns the exit code."""
    messages, complete = extracted(), True
    for language in LANGUAGES:
        if language == ENGLISH:
            continue
        catalogue = updated(language, messages)
        file = catalogue_file(language)
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text_of(catalogue), encoding="utf-8", newline="\n")
        left = list(faults(catalogue))
        complete = complete and not left
        print(f"{language}: {f'{len(left)} to do' if left else 'complete'}")
        for what in left:
            print(f"  {what}")
    return 0 if complete else 1


if __name__ == "__main__":
    sys.exit(main())
