"""What a brand is made of: its files, as one value that can be kept, compared and laid out in a folder."""

from __future__ import annotations

import base64
import binascii
import hashlib
import json
import re
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

BRAND_FILE = "brand.json"
#: Files of a brand that are edited as text.
TEXT_NAME = re.compile(r"(?:brand\.json|[a-z][a-z0-9_]{0,40}\.(?:html\.jinja|css|js)|mark\.svg)")
PICTURE_NAME = re.compile(r"[a-z][a-z0-9_-]{0,40}\.(?:svg|png|webp|jpg)")
BRAND_ID = re.compile(r"[a-z][a-z0-9-]{0,39}")
FILE_MAX_BYTES = 128 * 1024
CONTENT_MAX_BYTES = 512 * 1024
FILES_AT_MOST = 60


class BadContent(ValueError):
    """A brand that cannot be kept as it is. `at`: the file; the text says what is wrong and what to do."""

    def __init__(self, at: str, problem: str) -> None:
        super().__init__(f"{at}: {problem}")
        self.at = at
        self.problem = problem


@dataclass(frozen=True)
class Content:
    """The files of a brand by their names. Made through `checked`, so names and sizes are within bounds."""

    files: Mapping[str, bytes]

    @classmethod
    def checked(cls, files: Mapping[str, bytes]) -> Content:
        """Raises BadContent for a name, a size or a number of files out of bounds, or text that is not UTF-8."""
        if BRAND_FILE not in files:
            raise BadContent(BRAND_FILE, "is missing: every brand has one")
        if len(files) > FILES_AT_MOST:
            raise BadContent("files", f"{len(files)} of them: a brand has at most {FILES_AT_MOST}")
        for name, data in files.items():
            _check_file(name, data)
        if (size := sum(map(len, files.values()))) > CONTENT_MAX_BYTES:
            raise BadContent("files", f"{size} bytes in all: a brand has at most {CONTENT_MAX_BYTES}")
        return cls(dict(sorted(files.items())))

    @classmethod
    def of_folder(cls, folder: Path) -> Content:
        """The brand in a folder; files that are no part of a brand are left out. Raises BadContent."""
        found = {file.name: file.read_bytes() for file in sorted(folder.iterdir()) if file.is_file() and _is_name(file.name)}
        return cls.checked(found)

    @classmethod
    def of_json(cls, value: Any) -> Content:
        """The inverse of `as_json`. Raises BadContent."""
        if not isinstance(value, dict) or not all(isinstance(name, str) for name in value):
            raise BadContent("files", "must be an object of files by name")
        return cls.checked({name: _file_of(name, one) for name, one in value.items()})

    def as_json(self) -> dict[str, Any]:
        """Texts as they are, pictures as {"base64": ...}."""
        return {
            name: data.decode() if TEXT_NAME.fullmatch(name) else {"base64": base64.b64encode(data).decode()}
            for name, data in self.files.items()
        }

    @property
    def fingerprint(self) -> str:
        """The same for the same files, and for no others."""
        return hashlib.sha256(json.dumps(self.as_json(), sort_keys=True).encode()).hexdigest()[:32]

    @property
    def values(self) -> dict[str, Any]:
        """What brand.json says; empty while it is no JSON object."""
        try:
            values = json.loads(self.files[BRAND_FILE])
        except (ValueError, RecursionError):
            return {}
        return values if isinstance(values, dict) else {}

    def with_values(self, values: Mapping[str, Any]) -> Content:
        """With another brand.json; the same when it says the same already. Raises BadContent."""
        return self if values == self.values else self.with_file(BRAND_FILE, text_of(values).encode())

    def with_file(self, name: str, data: bytes) -> Content:
        """With this file in place of one of its name. Raises BadContent."""
        return Content.checked({**self.files, name: data})

    def without(self, name: str) -> Content:
        """Without this file. Raises BadContent for brand.json."""
        return Content.checked({key: data for key, data in self.files.items() if key != name})

    def text(self, name: str) -> str:
        """A file as text. Raises KeyError."""
        return self.files[name].decode()

    def lay_out(self, folder: Path) -> None:
        """Writes the files into a new folder."""
        folder.mkdir(parents=True)
        for name, data in self.files.items():
            (folder / name).write_bytes(data)


def text_of(values: Mapping[str, Any]) -> str:
    """brand.json as it is written: a line for each key, so that an error's line names one."""
    return json.dumps(values, ensure_ascii=False, indent=2) + "\n"


def _is_name(name: str) -> bool:
    return bool(TEXT_NAME.fullmatch(name) or PICTURE_NAME.fullmatch(name))


def _check_file(name: str, data: bytes) -> None:
    if not _is_name(name):
        raise BadContent(
            name[:60], "is no name of a brand's file: brand.json, mark.svg, or small letters, digits and _ before"
            " .html.jinja, .css, .js, .svg, .png, .webp or .jpg"
        )  # fmt: skip
    if len(data) > FILE_MAX_BYTES:
        raise BadContent(name, f"has {len(data)} bytes: at most {FILE_MAX_BYTES}")
    if TEXT_NAME.fullmatch(name):
        try:
            text = data.decode()
        except UnicodeDecodeError as error:
            raise BadContent(name, f"is not UTF-8 at byte {error.start}") from None
        if "\0" in text:
            raise BadContent(name, "holds a character of code 0")


def _file_of(name: str, value: Any) -> bytes:
    if isinstance(value, str):
        try:
            return value.encode()
        except UnicodeEncodeError:
            raise BadContent(name[:60], "holds half of a surrogate pair, which no text can") from None
    if isinstance(value, dict) and set(value) == {"base64"} and isinstance(value["base64"], str):
        try:
            return base64.b64decode(value["base64"], validate=True)
        except (binascii.Error, ValueError):
            raise BadContent(name[:60], "base64 cannot be read") from None
    raise BadContent(name[:60], 'must be a text, or {"base64": ...}')
