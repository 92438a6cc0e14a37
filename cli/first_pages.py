"""The pages of a fresh store in every language: two are there at once, the others come while it already serves.

All languages of a brand are 10 MB, which are made in some seconds from the templates; so they are made, not shipped.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterable
from pathlib import Path

from admin.publish import PublishError
from admin.publish.service import Press, Store, history, in_force, publish, read_source, render_brand
from admin.publish.sources import TEMPLATES
from cli.kv.stores import StoreError
from edge.core.page_set import PageSet

#: What kv-seed holds of each brand.
SEEDED = PageSet(1, 0, ("en", "ja"))


class FirstPages(threading.Thread):
    """Publishes the brands of a store that nobody has published to yet, beside everything else. `stop` ends it early."""

    def __init__(self, store: Store, brands: Iterable[str], say: Callable[[str], None], templates_dir: Path = TEMPLATES) -> None:
        super().__init__(name="first-pages", daemon=True)
        self._store, self._brands, self._say, self._templates_dir = store, sorted(set(brands)), say, templates_dir
        self._press = Press()
        self._stopped = threading.Event()

    def run(self) -> None:
        """Publishes; says what came of it."""
        try:
            wanted = [brand for brand in self._brands if is_untouched(self._store, brand)]
            for brand in wanted:
                made = render_brand(self._press, read_source(brand, self._templates_dir), (), self._templates_dir)
                if self._stopped.is_set():
                    return
                publish(self._store, made, "the first start", int(time.time() * 1000))
                self._say(f"  pages   {brand}: now in {len(made.languages)} languages")
        except (PublishError, StoreError) as error:
            if not self._stopped.is_set():
                self._say(f"  pages   only in {' and '.join(SEEDED.languages)} for now: {error}")
        finally:
            self._press.close()

    def stop(self) -> None:
        """Ends the rendering. What was not published yet is published at the next start."""
        self._stopped.set()
        self._press.stop()


def is_untouched(store: Store, brand: str) -> bool:
    """Whether a brand's pages are those that the store was filled with, and nobody has ever published others."""
    try:
        return in_force(store, brand) == SEEDED and not history(store, brand)
    except PublishError:
        return False
