"""What may be wrong with a translation: missing, unsure, other placeholders than the English, plural forms other than CLDR's."""

from __future__ import annotations

import re
from collections.abc import Iterator
from gettext import c2py

from babel.messages.catalog import Catalog, Message

from admin.publish.locales import SAMPLES, categories, category, plural_header

_PLACEHOLDER = re.compile(r"\{\{?\s*([a-z_]+)\s*\}?\}")
# Forms that in some languages stand for one number only may leave the number out: "one minute".
_ONE_NUMBER = frozenset({"zero", "one", "two"})
# Characters that would turn or cut the text around; directions are the page's work.
_CONTROLS = re.compile("[\x00-\x1f\x7f\u202a-\u202e\u2066-\u2069]")


def faults(language: str, catalogue: Catalog, template: Catalog) -> Iterator[tuple[int, str]]:
    """Everything for which a catalogue may not be published, as (line, what is wrong)."""
    try:
        wanted = plural_header(language)
    except ValueError as error:
        yield 0, str(error)
        return
    if not _same_forms(language, catalogue.plural_forms):
        yield 1, f'Plural-Forms must be "{wanted}" (the forms are: {", ".join(categories(language))})'
        return
    for message in template:
        if message.id:
            yield from _faults_of(language, message, _find(catalogue, message))


def leftovers(catalogue: Catalog, template: Catalog) -> Iterator[tuple[int, str]]:
    """Messages that the templates no longer have, as (line, what is wrong). They do no harm but mislead a translator."""
    for message in catalogue:
        if message.id and _find(template, message) is None:
            yield message.lineno or 0, f"{key_of(message)!r} is no message of the templates any more: run make messages"


def key_of(message: Message) -> str:
    """The English text by which a message is looked up."""
    return str(message.id[0] if message.pluralizable else message.id)


def strings_of(message: Message) -> tuple[str, ...]:
    """The translation, or all of its plural forms."""
    return tuple(message.string) if isinstance(message.string, (tuple, list)) else (str(message.string or ""),)


def placeholders(text: str) -> list[str]:
    """The names in braces, sorted."""
    return sorted(_PLACEHOLDER.findall(text))


def _find(catalogue: Catalog, message: Message) -> Message | None:
    return catalogue.get(key_of(message), message.context)


def _faults_of(language: str, source: Message, found: Message | None) -> Iterator[tuple[int, str]]:
    name = source.context or key_of(source)
    if found is None:
        yield 0, f"the message {name!r} is not translated, or its English has changed ({key_of(source)!r}): run make messages"
        return
    line = found.lineno or 0
    if found.fuzzy:
        yield line, f"{name!r} is marked fuzzy: compare it with the English, then take the mark off"
    forms = categories(language) if source.pluralizable else ("",)
    texts = strings_of(found)
    if len(texts) != len(forms):
        yield line, f"{name!r} needs {len(forms)} forms: {', '.join(forms)}"
        return
    for form, text in zip(forms, texts, strict=True):
        if what := _fault_of(source, form, text):
            yield line, f"{name!r}{f', form {form!r},' if form else ''} {what}"


def _fault_of(source: Message, form: str, text: str) -> str:
    english = str(source.id[-1] if source.pluralizable else source.id)
    if not text.strip():
        return "is not translated"
    if text != text.strip():
        return "begins or ends with a blank"
    if "<" in text or ">" in text:
        return "holds '<' or '>': a message is words, not HTML"
    if control := _CONTROLS.search(text):
        return f"holds the invisible character U+{ord(control.group()):04X}"
    if set("{}") & set(_PLACEHOLDER.sub("", text)):
        return "has a brace that belongs to no {name}"
    return _fault_of_placeholders(english, text, may_lose_one=form in _ONE_NUMBER)


def _fault_of_placeholders(english: str, text: str, *, may_lose_one: bool) -> str:
    wanted, found = placeholders(english), placeholders(text)
    if wanted == found:
        spelled = {match.group() for match in _PLACEHOLDER.finditer(english)}
        strange = [match.group() for match in _PLACEHOLDER.finditer(text) if match.group() not in spelled]
        return f"has {strange[0]} where the English spells it {min(spelled)}" if strange else ""
    lost, added = sorted(set(wanted) - set(found)), sorted(set(found) - set(wanted))
    if added:
        return f"has {{{added[0]}}}, which the English does not have"
    if not lost:
        return "has a {name} more or less often than the English"
    return "" if may_lose_one and len(wanted) - len(found) == 1 else f"lost {{{lost[0]}}}"


def _same_forms(language: str, header: str) -> bool:
    """Whether a `Plural-Forms` header puts every number into CLDR's form; tools for translators write it in many ways."""
    forms = categories(language)
    count, _, expression = header.replace(" ", "").rstrip(";").partition(";plural=")
    try:
        index = c2py(expression)
        return count == f"nplurals={len(forms)}" and all(forms[index(n)] == category(language, n) for n in SAMPLES)
    except (ValueError, IndexError, TypeError, ZeroDivisionError):
        return False
