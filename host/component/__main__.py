"""`python -m host.component [gatekeeper | proxy [--keyvalue]] [--quiet]`: builds a component, prints path and sizes."""

from __future__ import annotations

import argparse
import gzip
import os
import sys
from pathlib import Path

from host.component.build import BuildError, build_gatekeeper, build_proxy
from host.settings import SettingError, load

MB = 1_000_000


def _options(arguments: list[str] | None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m host.component", description="Builds a component.")
    parser.add_argument(
        "which",
        nargs="?",
        choices=("gatekeeper", "proxy"),
        default="gatekeeper",
        help="for the local edge (default), or for any host of wasi:http",
    )
    parser.add_argument(
        "--keyvalue",
        action="store_true",
        help="proxy: with configuration and pages in the host's own wasi:keyvalue store",
    )
    parser.add_argument("--quiet", action="store_true", help="print the path alone, for use in other commands")
    options = parser.parse_args(arguments)
    if options.keyvalue and options.which != "proxy":
        parser.error("--keyvalue is for proxy only")
    return options


def main(arguments: list[str] | None = None) -> int:
    """Builds; answers the exit code: 0, or 1 with the reason on standard error."""
    options = _options(arguments)
    try:
        cache = Path(load(os.environ)["STANCHION_CACHE_DIR"])
        is_proxy = options.which == "proxy"
        path = build_proxy(cache, keyvalue=options.keyvalue) if is_proxy else build_gatekeeper(cache)
    except (BuildError, SettingError) as error:
        print(error, file=sys.stderr)
        return 1
    if options.quiet:
        print(path)
        return 0
    wasm = path.read_bytes()
    packed = len(gzip.compress(wasm, compresslevel=6))
    print(f"{path}\n{len(wasm) / MB:.1f} MB, {packed / MB:.1f} MB with gzip")
    return 0


if __name__ == "__main__":
    sys.exit(main())
