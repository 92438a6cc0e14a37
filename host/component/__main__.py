"""`python -m host.component`: builds the gatekeeper component, prints its path, raw and gzip size."""

from __future__ import annotations

import gzip
import os
import sys
from pathlib import Path

from host.component.build import BuildError, build_gatekeeper
from host.settings import SettingError, load

MB = 1_000_000


def main() -> int:
    """Builds; answers the exit code: 0, or 1 with the reason on standard error."""
    try:
        path = build_gatekeeper(Path(load(os.environ)["STANCHION_CACHE_DIR"]))
    except (BuildError, SettingError) as error:
        print(error, file=sys.stderr)
        return 1
    wasm = path.read_bytes()
    packed = len(gzip.compress(wasm, compresslevel=6))
    print(f"{path}\n{len(wasm) / MB:.1f} MB, {packed / MB:.1f} MB with gzip")
    return 0


if __name__ == "__main__":
    sys.exit(main())
