"""`python -m host.fastly`: builds the component and the package for Fastly Compute, prints the package's path and the sizes."""

from __future__ import annotations

import os
import sys
from pathlib import Path

from host.component.build import BuildError
from host.fastly.package import make_package
from host.settings import SettingError, load

MB = 1_000_000


def main() -> int:
    """Builds; answers the exit code: 0, or 1 with the reason on standard error."""
    try:
        made = make_package(Path(load(os.environ)["STANCHION_CACHE_DIR"]))
    except (BuildError, SettingError) as error:
        print(error, file=sys.stderr)
        return 1
    print(f"{made.package}\n{made.wasm_bytes / MB:.1f} MB, {made.package_bytes / MB:.1f} MB packed")
    return 0


if __name__ == "__main__":
    sys.exit(main())
