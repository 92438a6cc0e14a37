"""What a brand is made of, as files by name: so that a draft can be rendered that lies in no folder."""

from __future__ import annotations

import re
import tempfile
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from admin.publish.errors import PublishError

#: Files that ship with the product: base/, brands/, locale/.
TEMPLATES = Path(__file__).parents[2] / "templates"
FILES_AT_MOST = 64
#: Of one file of a brand. A page of more than 30 KB gzipped is refused anyway.
FILE_MAX_BYTES = 256 * 1024
_FILE = re.compile(r"[A-Za-z0-9_-][A-Za-z0-9._-]{0,99}")
_BRAND = re.compile(r"[a-z0-9][a-z0-9_-]{0,62}")


@dataclass(frozen=True)
class BrandSource:
    """The files of one brand by name (`brand.json`, `brand.css`, `mark.svg`, pictures, `*.html.jinja`), without its parents'."""

    id: str
    files: Mapping[str, bytes]


def read_source(brand: str, templates_dir: Path = TEMPLATES) -> BrandSource:
    """A brand as it lies in the templates. Raises PublishError when there is none, or a file of it is too large."""
    folder = brand_folder(brand, templates_dir)
    if not (folder / "brand.json").is_file():
        raise PublishError(str(folder / "brand.json"), 0, "there is no such file")
    files = sorted(file for file in folder.iterdir() if file.is_file() and _FILE.fullmatch(file.name))
    check_files(files)
    source = BrandSource(brand, {file.name: file.read_bytes() for file in files})
    check_source(source)
    return source


def brand_folder(brand: str, templates_dir: Path) -> Path:
    """Where a brand lies. Raises PublishError for a name that is none."""
    if not _BRAND.fullmatch(brand):
        raise PublishError(str(templates_dir / "brands"), 0, f"{brand[:80]!r} is no name of a brand: a-z, 0-9, '-' and '_' only")
    return templates_dir / "brands" / brand


def check_files(files: list[Path]) -> None:
    """Raises PublishError for a file that is larger than any of a brand needs to be."""
    for file in files:
        if (size := file.stat().st_size) > FILE_MAX_BYTES:
            raise PublishError(str(file), 0, f"{size:,} bytes: a file of a brand may have {FILE_MAX_BYTES:,}")


def check_source(source: BrandSource) -> None:
    """Raises PublishError for what is no source of a brand."""
    folder = brand_folder(source.id, TEMPLATES)
    if len(source.files) > FILES_AT_MOST:
        raise PublishError(str(folder), 0, f"{len(source.files)} files: a brand may have {FILES_AT_MOST}")
    for name, content in source.files.items():
        if not _FILE.fullmatch(name):
            raise PublishError(str(folder), 0, f"{name[:80]!r} is no name of a file: letters, digits, '.', '-' and '_' only")
        if len(content) > FILE_MAX_BYTES:
            raise PublishError(str(folder / name), 0, f"{len(content):,} bytes: a file of a brand may have {FILE_MAX_BYTES:,}")


@contextmanager
def laid_out(source: BrandSource, templates_dir: Path = TEMPLATES) -> Iterator[Path]:
    """A folder of templates in which the brand is as in `source` and all else as in `templates_dir`. Raises PublishError."""
    check_source(source)
    with tempfile.TemporaryDirectory(prefix="stanchion-draft-") as name:
        root = Path(name)
        for part in ("base", "locale"):
            (root / part).symlink_to((templates_dir / part).resolve(), target_is_directory=True)
        own = root / "brands" / source.id
        own.mkdir(parents=True)
        for other in (templates_dir / "brands").iterdir():
            if other.name != source.id and other.is_dir():
                (root / "brands" / other.name).symlink_to(other.resolve(), target_is_directory=True)
        for file, content in source.files.items():
            (own / file).write_bytes(content)
        yield root
