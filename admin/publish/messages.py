"""`python -m admin.publish.messages [--add LANGUAGE]`: brings the catalogues up to the messages of the templates.

Every message of the templates and of `words.py` goes into `templates/locale/stanchion.pot`, and from there into every language's
catalogue: translations stay, new messages come in empty, and one whose English was reworded is marked fuzzy. Pages are not
published in a language until a person has seen to both.
"""

from __future__ import annotations

import argparse
import io
import re
import sys
from collections.abc import Iterator
from pathlib import Path

from babel.messages.catalog import Catalog
from babel.messages.extract import extract_from_file
from babel.messages.pofile import write_po

from admin.publish.catalogue import SOURCE_LANGUAGE as ENGLISH
from admin.publish.catalogue import available_languages, catalogue_file, read_catalogue, template_file
from admin.publish.errors import PublishError
from admin.publish.locales import locale_of, plural_header
from admin.publish.message_checks import faults

TEMPLATES = Path(__file__).resolve().parents[2] / "templates"
_WORDS = Path(__file__).with_name("words.py")
_JINJA = {"silent": "false", "trim_blocks": "true", "lstrip_blocks": "true"}
_TRANSLATORS = ("Translators:",)
# What changes without a message having changed, or speaks of no project of ours.
_NOISE = re.compile(r'"(POT-Creation-Date|PO-Revision-Date|Last-Translator|Language-Team|Report-Msgid-Bugs-To|Generated-By):.*\n')
_PLURALS = re.compile(r'"Plural-Forms:(?:.*\n")*?.*\\n"\n')
_WIDTH = 120
_SHOWN = 5  # faults of a language that are printed


def extracted(templates_dir: Path) -> Catalog:
    """The messages of the templates, in their order. Raises PublishError for two messages with one key."""
    catalogue = Catalog(project="Stanchion", version="1", charset="utf-8", fuzzy=False)
    catalogue.header_comment = "# The messages of Stanchion's waiting pages. Made by `make messages`; see docs/translating.md."
    keys: dict[str, str] = {}
    for file, key, english, comments in _found(templates_dir):
        if not key or keys.setdefault(key, english) != english:
            raise PublishError(file, 0, f"the message {english!r} needs a key of its own: {key!r} stands for another")
        catalogue.add(english, locations=[(file, None)], auto_comments=comments, context=key)  # type: ignore[list-item]
    return catalogue


def _found(templates_dir: Path) -> Iterator[tuple[str, str, str, list[str]]]:
    """Every use of a message: (file, key, English, comments for translators)."""
    folders = (templates_dir / "base", templates_dir / "brands")
    templates = sorted(file for folder in folders for file in folder.rglob("*.jinja"))
    for file, method in [*((file, "jinja2.ext:babel_extract") for file in templates), (_WORDS, "python")]:
        name = f"templates/{file.relative_to(templates_dir).as_posix()}" if file != _WORDS else "admin/publish/words.py"
        for _, english, comments, key in extract_from_file(method, file, comment_tags=_TRANSLATORS, options=dict(_JINJA)):
            yield name, str(key or ""), str(english), list(comments)


def text_of(catalogue: Catalog) -> str:
    """A catalogue as its file holds it: without dates, and with CLDR's plural forms."""
    written = io.BytesIO()
    write_po(written, catalogue, width=_WIDTH, ignore_obsolete=True, include_lineno=False)
    text = _NOISE.sub("", written.getvalue().decode("utf-8"))
    if catalogue.locale is None:
        return text
    header = plural_header(str(catalogue.locale).replace("_", "-"))
    return _PLURALS.sub(lambda _: f'"Plural-Forms: {header}\\n"\n', text, count=1)


def updated(language: str, template: Catalog, templates_dir: Path) -> Catalog:
    """The catalogue of a language, or a new one, with the messages of the templates."""
    file = catalogue_file(templates_dir, language)
    catalogue = Catalog(locale=locale_of(language), project="Stanchion", version="1", charset="utf-8", fuzzy=False)
    if file.is_file():
        known = read_catalogue(file)
        for message in known:
            if message.id:
                catalogue.add(
                    message.id, message.string, flags=message.flags, user_comments=message.user_comments, context=message.context
                )
    catalogue.update(template, no_fuzzy_matching=True)
    _keep_reworded(catalogue, template)
    catalogue.header_comment = f"# Stanchion's waiting pages: {locale_of(language).english_name}."
    catalogue.fuzzy = False
    return catalogue


def _keep_reworded(catalogue: Catalog, template: Catalog) -> None:
    """A key whose English has changed keeps its translation, marked fuzzy."""
    old = {message.context: message for message in catalogue.obsolete.values()}
    for message in template:
        found = catalogue.get(str(message.id), message.context) if message.id else None
        if found is not None and not found.string and message.context in old:
            found.string = old[message.context].string
            found.flags.add("fuzzy")


def main(arguments: list[str] | None = None) -> int:
    """Returns the exit status: 0 when every language is complete, 1 when a person has something to do."""
    parser = argparse.ArgumentParser(prog="python -m admin.publish.messages", description="Bring the catalogues up to date.")
    parser.add_argument("--add", action="append", default=[], metavar="LANGUAGE", help="begin a language, such as sv or pt-PT")
    parser.add_argument("--templates", type=Path, default=TEMPLATES)
    options = parser.parse_args(arguments)
    try:
        languages = [name for name in available_languages(options.templates) if name != ENGLISH]
        return _bring_up_to_date(options.templates, [*languages, *(name for name in options.add if name not in languages)])
    except (PublishError, ValueError) as error:
        print(f"not done: {error}", file=sys.stderr)
        return 1


def _bring_up_to_date(templates_dir: Path, languages: list[str]) -> int:
    template = extracted(templates_dir)
    texts = {template_file(templates_dir): text_of(template)}
    texts |= {catalogue_file(templates_dir, name): text_of(updated(name, template, templates_dir)) for name in languages}
    for file, text in texts.items():
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text, encoding="utf-8", newline="\n")
    complete = True
    for language in languages:
        file = catalogue_file(templates_dir, language)
        left = list(faults(language, read_catalogue(file), read_catalogue(template_file(templates_dir))))
        complete = complete and not left
        print(f"{language}: {f'{len(left)} to do' if left else 'complete'}")
        for line, what in left[:_SHOWN]:
            print(f"  {file}:{line}: {what}")
    return 0 if complete else 1


if __name__ == "__main__":
    sys.exit(main())
