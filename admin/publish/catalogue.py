"""The translations of the messages in the templates: gettext catalogues under `templates/locale`.

English is the text in the templates themselves and needs no catalogue.
"""

from __future__ import annotations

from functools import lru_cache
from pathlib import Path

from babel.messages.pofile import PoFileError, read_po

from admin.publish.errors import PublishError

SOURCE_LANGUAGE = "en"


def catalogue_file(templates_dir: Path, language: str) -> Path:
    """Where the catalogue of a language is."""
    return templates_dir / "locale" / language.replace("-", "_") / "LC_MESSAGES" / "stanchion.po"


def available_languages(templates_dir: Path) -> list[str]:
    """The languages in which pages can be published: English, and those with a catalogue."""
    found = sorted(file.parents[1].name.replace("_", "-") for file in templates_dir.glob("locale/*/LC_MESSAGES/stanchion.po"))
    return [SOURCE_LANGUAGE, *(name for name in found if name != SOURCE_LANGUAGE)]


def messages(templates_dir: Path, language: str) -> dict[str, tuple[str, str]]:
    """(English, translation) of every finished message, by its key. Raises PublishError when there is no catalogue to read."""
    file = catalogue_file(templates_dir, language)
    if not file.is_file():
        if language == SOURCE_LANGUAGE:
            return {}
        known = ", ".join(available_languages(templates_dir))
        raise PublishError(str(file), 0, f"there is no such file: no translation for {language!r}; there is {known}")
    return _read(file, file.stat().st_mtime_ns)


@lru_cache(maxsize=64)
def _read(file: Path, changed_ns: int) -> dict[str, tuple[str, str]]:
    try:
        with file.open("rb") as stream:
            catalogue = read_po(stream, abort_invalid=True)
    except (PoFileError, UnicodeDecodeError) as error:
        raise PublishError(str(file), getattr(error, "lineno", 0), f"no gettext catalogue: {error}") from error
    return {
        str(message.context): (str(message.id), str(message.string))
        for message in catalogue
        if message.id and message.context and message.string and not message.fuzzy
    }
