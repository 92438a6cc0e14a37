"""`python -m admin.publish [brand ...] [--languages en,ja] [--to kv-seed]`: publishes brands into a folder."""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

from admin.publish import PublishError, publish, put_pages

_ROOT = Path(__file__).parents[2]


class _Folder:
    def __init__(self, root: Path) -> None:
        self._root = root

    def put(self, key: str, text: str) -> None:
        file = self._root / key
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text, encoding="utf-8", newline="\n")


def main(arguments: list[str] | None = None) -> int:
    """Returns the exit status: 0, or 1 when a page is not fit to be published (then nothing is written)."""
    parser = argparse.ArgumentParser(prog="python -m admin.publish", description="Publish waiting pages into a folder.")
    parser.add_argument("brands", nargs="*", help="default: every brand of the templates")
    parser.add_argument("--languages", default="en,ja", help="comma-separated (default: en,ja)")
    parser.add_argument("--templates", type=Path, default=_ROOT / "templates")
    parser.add_argument("--to", type=Path, default=_ROOT / "kv-seed", help="folder of the store (default: kv-seed)")
    options = parser.parse_args(arguments)
    brands = options.brands or sorted(file.parent.name for file in options.templates.glob("brands/*/brand.json"))
    languages = [name for name in options.languages.split(",") if name]
    pages: dict[str, str] = {}
    try:
        for brand in brands:
            pages |= publish(brand, options.templates, languages)
    except PublishError as error:
        print(f"not published: {error}", file=sys.stderr)
        return 1
    put_pages(_Folder(options.to), pages)
    print(f"{len(pages)} pages of {', '.join(brands)} published to {options.to}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
