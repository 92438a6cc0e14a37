"""`python -m cli.reference`: writes the reference pages that are made from tables in the code, so that they cannot go stale."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path

from edge.core.config import json_schema
from edge.core.fields import Field
from edge.core.model import QUEUE_FIELDS, ROUTE
from host.settings import settings_reference

DOCS = Path(__file__).resolve().parents[1] / "docs"


def _default(field: Field) -> str:
    if field.required:
        return "required"
    value = list(field.default) if isinstance(field.default, tuple) else field.default
    text = json.dumps(value, ensure_ascii=False)
    return f"`{text}`" if len(text) < 60 else f"{len(value)} extensions"


def _allowed(field: Field) -> str:
    kind = field.kind
    if hasattr(kind, "low") and not hasattr(kind, "item"):
        return f"{kind.low} to {kind.high}" + (", or null" if kind.optional else "")
    if hasattr(kind, "values"):
        return ", ".join(f"`{value}`" for value in kind.values)
    if hasattr(kind, "says"):
        return str(kind.says) + (", or null" if kind.optional else "")
    if hasattr(kind, "item"):
        return f"list of {kind.low} to {kind.high}" + (", or null" if kind.optional else "")
    return "true or false"


def _table(fields: tuple[Field, ...]) -> Iterator[str]:
    yield "| key | default | allowed | unit | meaning |"
    yield "|---|---|---|---|---|"
    for field in fields:
        yield f"| `{field.name}` | {_default(field)} | {_allowed(field)} | {field.unit} | {field.meaning} |"


def configuration_page() -> str:
    """docs/configuration.md."""
    lines = [
        "# The configuration of queues",
        "",
        "Made from the table in `edge/core/model.py` by `make docs`. The JSON Schema: [config.schema.json](config.schema.json).",
        "",
        'A configuration is one JSON object, `{"queues": [...]}`, kept in the KV store under `config.json`.',
        "`stanchion config check FILE` names every fault with its place; `stanchion config apply FILE` puts it in force and",
        "gives each queue that changed a higher `config_version`. What is refused changes nothing.",
        "",
        "## A queue",
        "",
        *_table(QUEUE_FIELDS),
        "",
        "## A route",
        "",
        *_table(tuple(ROUTE.fields)),
        "",
        "The most specific rule decides: an exact host before `*.example.org` before `*`, then the longer path, an exact path",
        "before one with `*`, named methods before all. Queues of one and the same rule share it by country.",
        "",
        "A path is looked at as sent and as it means: `/%6caunch/`, `//launch/` and `/x/../launch/` are all held by `/launch/*`,",
        "and so is `/launch` itself.",
        "",
        "## What a combination means",
        "",
        "| set | meaning |",
        "|---|---|",
        "| `admit_per_minute` | a token bucket: that many claims a minute, `burst` saved up at most |",
        "| `max_active` | people inside and called never exceed it; whoever ends makes room for the next |",
        "| `inventory` | passes in use and sold units never exceed it |",
        "| several of them | each is a cap; the tightest decides |",
        "| `manual` | nobody is called but in batches by an operator; the other limits stay caps |",
        "| `always_queue` | nobody walks straight in; with no limit set, everyone is called at once |",
        "| none of them | refused: the queue would hold nobody back |",
        "",
    ]
    return "\n".join(lines)


def pages() -> dict[str, str]:
    """Every generated page by its name in docs/."""
    return {
        "configuration.md": configuration_page(),
        "config.schema.json": json.dumps(json_schema(), indent=2, ensure_ascii=False) + "\n",
        "settings.md": "# Settings\n\nMade from the table in `host/settings.py` by `make docs`. "
        "Every part reads its settings from the environment.\n\n" + settings_reference().rstrip() + "\n",
    }


def main() -> None:
    """Writes the pages."""
    for name, text in pages().items():
        (DOCS / name).write_text(text, encoding="utf-8")


if __name__ == "__main__":
    main()
