"""The translations of the messages in the templates: gettext catalogues under `templates/locale`, read when a page is published.

English is the text in the templates themselves and needs no catalogue. A language is on offer as soon as its catalogue is there.
Nothing is compiled to a file: a catalogue is small, and publishing is rare.
"""

from __future__ import annotations

from functools import lru_cache
from pathlib import Path

from babel.messages.catalog import Catalog
from babel.messages.pofile import PoFileError, read_po

from admin.publish.errors import PublishError
from admin.publish.message_checks import faults, key_of, strings_of

SOURCE_LANGUAGE = "en"
DOMAIN = "stanchion"


def catalogue_file(templates_dir: Path, language: str) -> Path:
    """Where the catalogue of a language is."""
    return templates_dir / "locale" / language.replace("-", "_") / "LC_MESSAGES" / f"{DOMAIN}.po"


def template_file(templates_dir: Path) -> Path:
    """The list of all messages of the templates, without translations."""
    return templates_dir / "locale" / f"{DOMAIN}.pot"


def available_languages(templates_dir: Path) -> list[str]:
    """The languages in which pages can be published: English, and those with a catalogue."""
    files = templates_dir.glob(f"locale/*/LC_MESSAGES/{DOMAIN}.po")
    found = sorted(file.parents[1].name.replace("_", "-") for file in files)
    return [SOURCE_LANGUAGE, *(name for name in found if name != SOURCE_LANGUAGE)]


def messages(templates_dir: Path, language: str) -> dict[str, tuple[str, str]]:
    """Every message by its key, as (English, translation).

    Raises PublishError, naming file and line, when there is no catalogue, or anything in it is missing or wrong.
    """
    file = catalogue_file(templates_dir, language)
    if not file.is_file():
        if language == SOURCE_LANGUAGE:
            return {}
        known = ", ".join(available_languages(templates_dir))
        raise PublishError(str(file), 0, f"there is no such file: no translation for {language!r}; there is {known}")
    catalogue = read_catalogue(file)
    fault = next(faults(language, catalogue, read_catalogue(template_file(templates_dir))), None)
    if fault:
        raise PublishError(str(file), *fault)
    return {str(message.context): (key_of(message), strings_of(message)[0]) for message in catalogue if message.id}


def read_catalogue(file: Path) -> Catalog:
    """The messages of a .po or .pot file, read once for each version of the file. Raises PublishError."""
    try:
        found = file.stat()
    except OSError as error:
        raise PublishError(str(file), 0, f"cannot be read: {error.strerror}") from error
    return _read(file, found.st_mtime_ns, found.st_size)


@lru_cache(maxsize=64)
def _read(file: Path, changed_ns: int, size_bytes: int) -> Catalog:
    try:
        with file.open("rb") as stream:
            return read_po(stream, abort_invalid=True, ignore_obsolete=True)
    except PoFileError as error:
        raise PublishError(str(file), error.lineno + 1, f"no gettext catalogue: {error}") from error
    except (ValueError, LookupError) as error:
        raise PublishError(str(file), 0, f"no gettext catalogue: {error}") from error
