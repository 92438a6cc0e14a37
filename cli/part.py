"""`python -m cli.part MODULE [ARGUMENTS]`: runs a module as `python -m MODULE` does, for as long as its parent lives.

Standard input is a pipe that the parent holds open and never writes to. The kernel ends it when the parent is gone, killed
or not; then this process sends itself SIGTERM, so that no part of a run outlives it and keeps its port.
"""

from __future__ import annotations

import os
import runpy
import signal
import sys
import threading
import time

# Longer than a part takes for a clean stop.
STOP_WITHIN_S = 8.0


def main() -> None:
    """Runs the module that the first argument names; it finds its own arguments in `sys.argv`."""
    module = sys.argv[1]
    sys.argv = sys.argv[1:]
    threading.Thread(target=_end_with_parent, name="parent-watch", daemon=True).start()
    runpy.run_module(module, run_name="__main__", alter_sys=True)


def _end_with_parent() -> None:
    while os.read(0, 1):
        pass
    os.kill(os.getpid(), signal.SIGTERM)
    time.sleep(STOP_WITHIN_S)
    os.kill(os.getpid(), signal.SIGKILL)


if __name__ == "__main__":
    main()
