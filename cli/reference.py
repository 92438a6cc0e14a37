"""`python -m cli.reference`: writes the reference pages that are made from tables in the code, so that they cannot go stale."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator
from pathlib import Path

from cli.states_page import states_page
from cli.status_schema import status_schema
from edge.core.combinations import COMBINATIONS
from edge.core.config import json_schema
from edge.core.fields import Field, MapOf, Obj
from edge.core.groups import GROUP_FIELDS, SHARED
from edge.core.model import LANE, QUEUE_FIELDS, ROUTE
from host.settings import settings_reference
from sim.sale_fields import TABLES

DOCS = Path(__file__).resolve().parents[1] / "docs"


def _default(field: Field) -> str:
    if field.required:
        return "required"
    if isinstance(field.kind, Obj):
        return "all defaults"
    if hasattr(field.kind, "left_out"):
        return str(field.kind.left_out)
    value = list(field.default) if isinstance(field.default, tuple) else field.default
    value = value or {} if isinstance(field.kind, MapOf) else value
    text = json.dumps(value, ensure_ascii=False)
    return f"`{text}`" if len(text) < 60 else f"{len(value)} extensions"


def _allowed(field: Field) -> str:
    kind = field.kind
    if isinstance(kind, Obj):
        return "a table, below"
    if hasattr(kind, "low") and not hasattr(kind, "item"):
        return f"{kind.low} to {kind.high}" + (", or null" if kind.optional else "")
    if hasattr(kind, "values"):
        return ", ".join(f"`{value}`" for value in kind.values) + (", or null" if kind.optional else "")
    if isinstance(kind, MapOf):
        return f"object: {kind.item.low} to {kind.item.high} by id"
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


# What keys mean together: (what is set, meaning). What cannot mean anything is in edge/core/combinations.py.
MEANINGS = (
    ("`admit_per_minute`", "a token bucket: that many claims a minute, `burst` saved up at most; 0 admits nobody"),
    ("`max_active`", "people inside and called never exceed it; whoever ends makes room for the next"),
    ("`inventory`", "passes in use and sold units never exceed it; an unsold ending gives its unit back"),
    ("several of them", "each is a cap; the tightest decides"),
    ("`manual`", "nobody is called but in batches by an operator; limits stay caps; `always_queue` adds nothing"),
    ("`always_queue`", "nobody walks straight in; with no limit set, everyone is called at once"),
    ("`start_queueing_above`", "up to so many new visits a minute nobody is held by the rate; above it the rate counts, until "
     "for a minute no more than four fifths of it came a minute and nobody waits; `max_active` and `inventory` count all the "
     "time"),
    ("`start_queueing_above` and `always_queue`", "above it everyone queues, below it nobody who finds room"),
    ("`opens_at` without `prequeue_at`", "before it nobody gets a place; from then on first come, first served"),
    ("`prequeue_at` and `opens_at`", "arrivals between the two get a number; at `opens_at` all are put in order at once, by "
     "draw or, with `prequeue_order` `arrival`, as they came; later arrivals line up behind"),
    ("`opens_at` and limits", "waiting room, then queueing: people are held until it opens, then let in at the rate, with "
     "`max_active` inside at most and the rest in line"),
    ("`opens_at` or `prequeue_at` and `manual`", "the schedule opens the queue, an operator calls"),
    ("`closes_at`", "as if an operator closed the queue then; who is inside stays, places are kept"),
    ("`closes_at` and `prequeue_at`", "who has a number when it closes keeps it, for as long as its cookie lives"),
    ("`lanes`", "own positions and order in each; calls are shared out by `share` among lanes with somebody to call"),
    ("`lanes` and a pre-queue", "each lane is drawn by itself"),
    ("`lanes` and `quotas`", "a queue's quota is split among its lanes by their shares"),
    ("`late_claim` `head`", "back within `late_claim_within_s` of a missed turn, the visitor is called next, at most "
     "`late_share_percent` of the calls while others wait"),
    ("`late_claim` `back`", "back after a missed turn, one gets a new place at the end; with `head` too, after that time"),
    ("`late_claim` `refused`", "a missed turn is lost; a new visit is a newcomer's"),
    ("`idle_s` and `visit_max_s`", "a pass ends when it makes no request for the first, and at the second however busy it is"),
    ("`checkout_s`", "from the checkout command on this deadline replaces `idle_s`; `checkout; extend` sets it once more; "
     "`visit_max_s` still ends the visit"),
    ("`max_networks`", "networks are /24 of IPv4 and /48 of IPv6, counted by each node; a refused renewal ends the visit"),
    ("`countries` in several queues of one rule", "the visitor's country chooses the queue at the first visit; a place stays"),
    ("`on_store_error` `admit` and `max_active`", "those let in without Redis are not counted; only "
     "`store_error_admit_per_minute` for each node bounds them"),
)  # fmt: skip


def _pairs(heads: tuple[str, str], rows: Iterable[tuple[str, str]]) -> Iterator[str]:
    yield f"| {heads[0]} | {heads[1]} |"
    yield "|---|---|"
    for one, other in rows:
        yield f"| {one} | {other} |"


def _refusals() -> Iterator[tuple[str, str]]:
    for key, _, advice in COMBINATIONS:
        yield f"`{key}`", advice
    yield from OTHER_REFUSALS


# Those that are more than a test on one queue.
OTHER_REFUSALS = (
    ("`routes`, `bypass`, `return_paths`", "nothing below `/.stanchion/`, which the gate answers itself"),
    ("`routes`", "two queues of one and the same rule must be told apart by country"),
    ("`lanes`", "two or more; names once each; the first is everybody's, each other has a way in (`invite` or `rule`)"),
    ("`lanes[].rule`", "no header or cookie that begins with `stanchion-`"),
    ("`groups[].queues`", "queues that there are, each in one group, of one cookie_domain, at most 16 lanes together"),
    ("`groups[].quotas`", "only for queues of the group"),
    ("`groups[].id`", "no id of a queue or of another group"),
    ("a shared key on a queue of a group", "set it in the group"),
)


def configuration_page() -> str:
    """docs/configuration.md."""
    lines = [
        "# The configuration of queues",
        "",
        "Made from the table in `edge/core/model.py` by `make docs`. The JSON Schema: [config.schema.json](config.schema.json).",
        "",
        'A configuration is one JSON object, `{"queues": [...], "groups": [...]}`, kept in the KV store under `config.json`;',
        "groups may be left out. `stanchion config check FILE` names every fault with its place; `stanchion config apply FILE`",
        "puts it in force and gives each queue or group that changed a higher `config_version`. What is refused changes nothing.",
        "Ready examples, mode by mode: [modes.md](modes.md). What each state of a queue means: [states.md](states.md).",
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
        "## A lane",
        "",
        *_table(tuple(LANE.fields)),
        "",
        "## A group",
        "",
        *_table(tuple(field for field in GROUP_FIELDS if field.name not in SHARED)),
        "",
        "And with the meaning that they have for a queue, once for all its queues, which must leave them out:",
        ", ".join(f"`{field.name}`" for field in GROUP_FIELDS if field.name in SHARED) + ".",
        "",
        "A group has one total of each limit. A visitor has one place in it, whichever of its queues it was got in (as far as",
        "hosts share cookies: see `cookie_domain`). A queue that enters or leaves a group begins anew.",
        "",
        "## What a combination means",
        "",
        "Each limit is a cap. What is not in this table and not refused below works as each key says by itself.",
        "",
        *_pairs(("set", "meaning"), MEANINGS),
        "",
        "## What is refused",
        "",
        "`stanchion config check` and `apply` refuse, with the place and this advice:",
        "",
        *_pairs(("key", "advice"), _refusals()),
        "",
    ]
    return "\n".join(lines)


def simulation_page() -> str:
    """docs/simulation.md: the text of cli/simulation.md, and the tables of the sale file."""
    lines = [(Path(__file__).with_name("simulation.md")).read_text(encoding="utf-8").rstrip(), ""]
    for name, fields in TABLES.items():
        lines += [f"### {f'`{name}`' if name else 'At the top'}", "", *_table(fields), ""]
    return "\n".join(lines)


def pages() -> dict[str, str]:
    """Every generated page by its name in docs/."""
    return {
        "configuration.md": configuration_page(),
        "states.md": states_page(),
        "config.schema.json": json.dumps(json_schema(), indent=2, ensure_ascii=False) + "\n",
        "status.schema.json": json.dumps(status_schema(), indent=2, ensure_ascii=False) + "\n",
        "simulation.md": simulation_page(),
        "settings.md": "# Settings\n\nMade from the table in `host/settings.py` by `make docs`. "
        "Every part reads its settings from the environment.\n\n" + settings_reference().rstrip() + "\n",
    }


def main() -> None:
    """Writes the pages."""
    for name, text in pages().items():
        (DOCS / name).write_text(text, encoding="utf-8")


if __name__ == "__main__":
    main()
