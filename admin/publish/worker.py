"""The process that renders: one job a line on its standard input, one answer a line on its standard output, both JSON.

It holds no secret, opens no store and has bounded memory, so that a template can at worst end this process. `press.py` starts it.
"""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

from admin.publish.brand import brand_faults
from admin.publish.errors import PublishError
from admin.publish.limits import PAGE_MAX_S, limit_memory
from admin.publish.looks import preview_page
from admin.publish.publish import publish


def answer(job: dict[str, Any]) -> dict[str, Any]:
    """What a job comes to: its result, or the fault that stopped it."""
    templates_dir = Path(job["templates"])
    try:
        if job["what"] == "preview":
            page = preview_page(templates_dir, job["brand"], job["language"], job["look"], job["nonce"], job["message"],
                                status_url=job["status_url"], page_max_s=PAGE_MAX_S)  # fmt: skip
            return {"page": page}
        if job["what"] == "check" and (found := brand_faults(job["brand"], templates_dir)):
            return {"faults": [_told(error) for error in found]}
        made = publish(job["brand"], templates_dir, job["languages"], page_max_s=PAGE_MAX_S)
        if job["what"] == "check":
            return {"faults": []}
        return {"languages": made.languages, "pages": [[*where, page] for where, page in made.pages.items()]}
    except PublishError as error:
        return {"faults": [_told(error)]}
    except (ValueError, LookupError, TypeError, RecursionError) as error:
        # Whatever a brand comes to, its author is told; a process that ends would say nothing.
        return {"faults": [(job["brand"], 0, f"{type(error).__name__}: {error}", "")]}
    except MemoryError:
        return {"faults": [(job["brand"], 0, "needs more memory than rendering may take", "")]}


def _told(error: PublishError) -> tuple[str, int, str, str]:
    return error.file, error.line, error.what, error.field


def main() -> None:
    """Answers until the input ends."""
    limit_memory()
    for line in sys.stdin:
        print(json.dumps(answer(json.loads(line))), flush=True)


if __name__ == "__main__":
    main()
