"""Where a draft is tried: rendered and checked by the press, beside the brands that come with the product and those made here.

`home` is a folder of the admin's own: links to the product's templates, and a folder for each brand that was published from here.
It can be removed at any time; it is made again from the database.
"""

from __future__ import annotations

import shutil
import tempfile
import threading
from collections.abc import Mapping
from pathlib import Path

from admin.publish import service
from admin.publish.errors import PublishError
from admin.publish.service import BrandSource, Press, Publication
from admin.studio.content import BRAND_FILE, BRAND_ID, Content

_MARK = ".source"


class Workshop:
    """Every method takes a while and belongs into a thread. All raise PublishError for what cannot be published."""

    def __init__(self, templates_dir: Path, home: Path) -> None:
        self._product = templates_dir.resolve()
        self._home = home
        self._press = Press()
        self._lock = threading.Lock()

    def close(self) -> None:
        """Ends the process that renders."""
        self._press.close()

    def shipped_ids(self) -> list[str]:
        """The ids of the brands that come with the product."""
        names = (file.parent.name for file in self._product.glob(f"brands/*/{BRAND_FILE}"))
        return sorted(name for name in names if BRAND_ID.fullmatch(name))

    def shipped_brand(self, brand: str) -> Content | None:
        """One of them, or None for another id."""
        return Content.of_folder(self._product / "brands" / brand) if brand in self.shipped_ids() else None

    def shipped(self) -> dict[str, Content]:
        """The brands that come with the product."""
        return {brand: Content.of_folder(self._product / "brands" / brand) for brand in self.shipped_ids()}

    def base_file(self, name: str) -> str | None:
        """The text of a file of the base, which a brand's own of that name would replace."""
        file = self._product / "base" / name
        return file.read_text(encoding="utf-8") if name == Path(name).name and file.is_file() else None

    def base_files(self) -> list[str]:
        """Names of the files of the base."""
        return sorted(file.name for file in (self._product / "base").iterdir() if file.is_file())

    def page(
        self, brand: str, content: Content, others: Mapping[str, Content], language: str, look: str, nonce: str, message: str = ""
    ) -> str:
        """One page of a draft, checked and filled with a made-up visitor. Raises PublishError."""
        home = self._furnished(others)
        return service.preview(self._press, BrandSource(brand, content.files), language, look, nonce=nonce, message=message,
                               templates_dir=home)  # fmt: skip

    def publication(self, brand: str, content: Content, others: Mapping[str, Content]) -> Publication:
        """All pages of a draft, rendered and checked. Raises PublishError for the first thing that is wrong."""
        return service.render_brand(self._press, BrandSource(brand, content.files), templates_dir=self._furnished(others))

    def _furnished(self, others: Mapping[str, Content]) -> Path:
        """The folder of templates with these brands in it. Raises PublishError when it cannot be written."""
        with self._lock:
            try:
                self._link("base", self._home / "base")
                self._link("locale", self._home / "locale")
                for brand in sorted(set(self.shipped_ids()) - set(others)):
                    self._link(f"brands/{brand}", self._home / "brands" / brand)
                for brand, content in others.items():
                    self._lay_out(brand, content)
            except OSError as error:
                raise PublishError(str(self._home), 0, f"cannot be written: {error.strerror or error}") from error
        return self._home

    def _link(self, part: str, place: Path) -> None:
        if place.is_symlink() and place.resolve() == self._product / part:
            return
        _remove(place)
        place.parent.mkdir(parents=True, exist_ok=True)
        place.symlink_to(self._product / part, target_is_directory=True)

    def _lay_out(self, brand: str, content: Content) -> None:
        place = self._home / "brands" / brand
        mark = place / _MARK
        if not place.is_symlink() and mark.is_file() and mark.read_text() == content.fingerprint:
            return
        place.parent.mkdir(parents=True, exist_ok=True)
        aside = Path(tempfile.mkdtemp(prefix=".new-", dir=place.parent))
        content.lay_out(aside / brand)
        (aside / brand / _MARK).write_text(content.fingerprint)
        _remove(place)
        (aside / brand).replace(place)
        aside.rmdir()


def _remove(place: Path) -> None:
    if place.is_symlink() or place.is_file():
        place.unlink()
    elif place.is_dir():
        shutil.rmtree(place)
