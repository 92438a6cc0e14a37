"""The process that renders: one job a line on its standard input, one answer a line on its standard output, both JSON.

It holds no secret, opens no store and has bounded memory, so that a template can at worst end this process. `press.py` starts it.
"""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

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
        made = publish(job["brand"], templates_dir, job["languages"], page_max_s=PAGE_MAX_S)
        return {"languages": made.languages, "pages": [[*where, page] for where, page in made.pages.items()]}
    except PublishError as error:
        return {"file": error.file, "line": error.line, "fault": error.what, "field": error.field}
    except MemoryError:
        return {"file": job["brand"], "line": 0, "fault": "needs more memory than rendering may take", "field": ""}


def main() -> None:
    """Answers until the input ends."""
    limit_memory()
    for line in sys.stdin:
        print(json.dumps(answer(json.loads(line))), flush=True)


if __name__ == "__main__":
    main()
