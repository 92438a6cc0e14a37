"""The words of a page: the base's, replaced by the brand's where it says something else."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from markupsafe import Markup, escape

from admin.publish.brand import Brand, line_of, read_json
from admin.publish.errors import PublishError
from edge.core.pages import SLOTS

# Values that the page's script keeps current: they stand in an element that it can find.
_LIVE: Mapping[str, str] = {
    "ahead": '<span data-v="ahead">{{ahead}}</span>',
    "position": '<span data-v="position">{{position}}</span>',
    "wait_low_min": '<span data-v="low">{{wait_low_min}}</span>',
    "wait_high_min": '<span data-v="high">{{wait_high_min}}</span>',
    "updated": '<time data-v="updated" datetime="{{updated_iso}}">{{updated_utc}} UTC</time>',
}


class Texts:
    """Texts of one brand in one language."""

    def __init__(self, brand: Brand, language: str, templates_dir: Path) -> None:
        self._file = templates_dir / "base" / "texts" / f"{language}.json"
        self._words = {**read_json(self._file), **brand.texts.get(language, {})}
        self._brand = brand

    def __contains__(self, key: str) -> bool:
        return key in self._words

    def plain(self, key: str) -> Markup:
        """The text with its slots, for a title or an attribute."""
        return self._filled(key, {})

    def rich(self, key: str) -> Markup:
        """The text with its slots, those that change in elements of their own."""
        live = dict(_LIVE)
        if key != "seconds":
            live["claim_left"] = f'<span data-v="claim-left">{self.plain("seconds")}</span>'
        return self._filled(key, live)

    def _filled(self, key: str, live: Mapping[str, str]) -> Markup:
        if key not in self._words:
            raise PublishError(str(self._file), 0, f"the text {key!r} is missing")
        first, *rest = self._words[key].split("{")
        parts = [escape(first)]
        for piece in rest:
            name, brace, after = piece.partition("}")
            if not brace or not (name in SLOTS or name in live or name == "brand"):
                raise PublishError(*self._place(key), f"the text {key!r} holds {{{name[:30]}}}, which is no slot")
            parts += [self._value(name, live), escape(after)]
        return Markup("").join(parts)

    def _value(self, name: str, live: Mapping[str, str]) -> Markup:
        if name == "brand":
            return escape(self._brand.name)
        return Markup(live.get(name) or "{{" + name + "}}")

    def _place(self, key: str) -> tuple[str, int]:
        """The file and line that a text came from."""
        files = [folder / "brand.json" for folder in self._brand.folders] + [self._file]
        return next(((str(file), line) for file in files if (line := line_of(file, key))), (str(self._file), 0))
