"""The words of a page: those of the language's catalogue, replaced by the brand's where it says something else."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from difflib import get_close_matches
from pathlib import Path

from markupsafe import Markup, escape

from admin.publish.brand import Brand, line_of
from admin.publish.catalogue import SOURCE_LANGUAGE, catalogue_file, messages, read_catalogue, template_file
from admin.publish.errors import PublishError
from admin.publish.languages import direction
from admin.publish.words import Words

# What a message may hold in braces. Slots that stand in the page as they are, kept apart from the direction of the text around:
_ISOLATED = ("queue_name", "lane", "request_id")
# slots that the page's script keeps current, in an element that it can find:
_LIVE = ("ahead", "position", "arrival_number")
# and what is shown in words: times, and durations in the units of the language.
_WORDED = ("updated", "opens_at", "claim_left", "wait", "wait_most", "claim", "late", "grace")
# First strong isolate, and its end (Unicode Standard Annex 9).
_ISOLATES = ("\u2068", "\u2069")
PLACEHOLDERS = frozenset((*_ISOLATED, *_LIVE, *_WORDED, "brand"))


class Message(Markup):
    """A message as markup; `plain` is the same without elements, for titles and attributes."""

    plain: Markup

    @classmethod
    def of(cls, rich: Markup, plain: Markup) -> Message:
        """The two forms as one."""
        made = cls(rich)
        made.plain = plain
        return made


class Texts:
    """Texts of one brand in one language."""

    def __init__(self, brand: Brand, language: str, templates_dir: Path) -> None:
        self._file = catalogue_file(templates_dir, language)
        self._language = language
        self._is_source = language == SOURCE_LANGUAGE
        self._messages = messages(templates_dir, language)
        self._own = brand.texts.get(language, {})
        self._known = {str(message.context) for message in read_catalogue(template_file(templates_dir))}
        self._brand = brand
        self._is_rtl = direction(language) == "rtl"
        self._words = Words(language, templates_dir)

    def pgettext(self, key: str, english: str) -> Message:
        """The message of that key. Raises PublishError when it is not translated, or holds what is no placeholder."""
        text = self._text(key, english)
        return Message.of(self._filled(key, text, self._rich), self._filled(key, text, self._plain))

    def refuse_unknown(self) -> None:
        """Once every page is made: raises PublishError for a text of the brand whose key is that of no message."""
        if stray := sorted(self._own.keys() - self._known):
            near = get_close_matches(stray[0], self._known, 1)
            hint = f": do you mean {near[0]!r}?" if near else ""
            raise self._fault(stray[0], f"texts: {stray[0]!r} is the key of no message{hint}")

    def _text(self, key: str, english: str) -> str:
        self._known.add(key)
        if key in self._own:
            return self._own[key]
        source, translated = self._messages.get(key, ("", ""))
        if source == english:
            return translated
        if self._is_source:
            return english
        what = f"the message {key!r} has changed: it is now {english!r}" if source else f"the message {key!r} is not translated"
        raise PublishError(str(self._file), line_of(self._file, key), f"{what} (msgctxt {key!r}, msgid {english!r})")

    def _filled(self, key: str, text: str, value: Callable[[str], Markup]) -> Markup:
        first, *rest = text.split("{")
        parts = [escape(first)]
        for piece in rest:
            name, brace, after = piece.partition("}")
            if not brace or name not in PLACEHOLDERS:
                known = ", ".join(sorted(PLACEHOLDERS))
                raise self._fault(key, f"the text {key!r} holds {{{name[:30]}}}, which is no placeholder: one of {known}")
            parts += [value(name), escape(after)]
        return Markup("").join(parts)

    def _plain(self, name: str) -> Markup:
        """As text alone. Where the language runs from right to left, isolating characters do what <bdi> does elsewhere."""
        before, after = _ISOLATES if self._is_rtl else ("", "")
        return Markup(before) + self._bare(name) + Markup(after)

    def _bare(self, name: str) -> Markup:
        if name == "brand":
            return escape(self._brand.name)
        return Markup("{{" + {"claim_left": "claim_left_clock", "opens_at": "opens_utc", "wait": "wait_high_min",
                              "wait_most": "wait_high_min", "updated": "updated_utc"}.get(name, name) + "}}")  # fmt: skip

    def _rich(self, name: str) -> Markup:
        if name == "brand":
            return Markup("<bdi>{}</bdi>").format(self._brand.name)
        if name in _ISOLATED:
            return Markup("<bdi>{{" + name + "}}</bdi>")
        if name in _LIVE:
            return Markup(f'<bdi data-v="{name}">{{{{{name}}}}}</bdi>')
        return _WORDS_OF[name](name, self._words)

    def _fault(self, key: str, what: str) -> PublishError:
        """A fault of a text, where it came from: the brand or the nearest of its parents, else the catalogue."""
        path = ("texts", self._language, key)
        files = [folder / "brand.json" for folder in self._brand.folders]
        for file in files:
            if file.is_file() and (line := line_of(file, *path)):
                return PublishError(str(file), line, what, ".".join(path))
        return PublishError(str(self._file), line_of(self._file, key) if self._file.is_file() else 0, what)


def _time(name: str, words: Words) -> Markup:
    iso, shown = {"updated": ("updated_iso", "{{updated_utc}}"), "opens_at": ("opens_iso", "{{opens_utc}}")}[name]
    return Markup(f'<time dir="auto" data-v="{name}" datetime="{{{{{iso}}}}}">{shown} UTC</time>')


def _clock(name: str, words: Words) -> Markup:
    return Markup('<bdi dir="ltr" data-v="claim_left">{{claim_left_clock}}</bdi>')


def _range(name: str, words: Words) -> Markup:
    return words.duration("{{wait_high}}", "{{wait_unit}}", "{{wait_low}}" if name == "wait" else "", live=name)


def _duration(name: str, words: Words) -> Markup:
    """Of three units one shows, by the queue's setting."""
    return words.duration("{{" + name + "}}", "{{" + name + "_unit}}")


_WORDS_OF: Mapping[str, Callable[[str, Words], Markup]] = {
    "updated": _time, "opens_at": _time, "claim_left": _clock, "wait": _range, "wait_most": _range, "claim": _duration,
    "late": _duration, "grace": _duration,
}  # fmt: skip
