"""The messages that a brand may word otherwise, in groups that people find their way in."""

from __future__ import annotations

from dataclasses import dataclass

from admin.publish.catalogue import SOURCE_LANGUAGE, messages, read_catalogue, template_file
from admin.publish.message_checks import key_of
from admin.publish.sources import TEMPLATES
from admin.words import N_, _

_GROUPS = (
    ("waiting", N_("Waiting")), ("called", N_("Called")), ("prequeue", N_("Before the draw")), ("promise", N_("Promises")),
    ("", N_("Everything else")),
)  # fmt: skip
_WAITING = frozenset({"waiting", "candidate", "ahead", "wait", "position", "arrival", "lane"})


@dataclass(frozen=True)
class Message:
    """`words`: its first words in English; `standard`: what is shown when the brand says nothing; `rows`: of its field."""

    key: str
    words: str
    standard: str
    rows: int


def groups(language: str) -> list[tuple[str, list[Message]]]:
    """All messages, in the language's own standard words. Raises PublishError when its catalogue is damaged."""
    translated = messages(TEMPLATES, language) if language != SOURCE_LANGUAGE else {}
    found: dict[str, list[Message]] = {name: [] for name, _word in _GROUPS}
    for message in read_catalogue(template_file(TEMPLATES)):
        key = str(message.context or "")
        if not message.id or not key:
            continue
        english = key_of(message)
        standard = translated.get(key, ("", english))[1]
        found[_group(key)].append(Message(key, _short(english), standard, 1 if len(standard) < 44 else 2))
    return [(_(word), found[name]) for name, word in _GROUPS if found[name]]


def _group(key: str) -> str:
    head = key.partition(".")[0]
    if head in _WAITING:
        return "waiting"
    return head if head in ("called", "prequeue", "promise") else ""


def _short(english: str) -> str:
    words = english.split()
    return " ".join(words[:5]) + (" …" if len(words) > 5 else "")
