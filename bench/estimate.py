"""How good the told waits are: a small set of sales, each with another limit that holds people, in virtual time.

`python -m bench.estimate [NAME ...]` prints the table; 1 when a yardstick is missed in any of them. The sales: bench/sales/ and
two ready examples.
"""

from __future__ import annotations

import sys
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from bench.report import Report
from sim.figures import ERROR_AT_MOST_PERCENT, HELD_AT_LEAST_PERCENT
from sim.sale import Sale
from sim.sale_file import load_sale
from sim.simulate import simulate

SALES = Path(__file__).parent / "sales"
EXAMPLES = Path(__file__).parents[1] / "examples" / "sales"
# Of the ready examples those whose waits no operator and no fault makes guesses.
FILES = {path.stem: path for path in sorted(SALES.glob("*.toml"))} | {
    f"examples/{name}": EXAMPLES / f"{name}.toml" for name in ("draw", "group")
}
NAMES = tuple(FILES)


def estimate_of(sale: Sale) -> dict[str, Any]:
    """What the simulated sale says of the told waits that no operator and no fault made a guess (sim/figures.py)."""
    told: dict[str, Any] = simulate(sale)["estimate"]
    return {**told["undisturbed"], "rises_percent": told["rises_percent"]}


def add_to(report: Report, names: Iterable[str] = NAMES) -> None:
    """Runs the sales and adds their rows."""
    for name in names:
        sale = load_sale(FILES[name])
        found, said = estimate_of(sale), name if "/" in name else sale.name
        report.at_most(f"told wait, median error: {said}", found["median_error_percent"], ERROR_AT_MOST_PERCENT, "%",
                       is_exact=True)  # fmt: skip
        report.at_least(f"told range holds: {said}", found["range_held_percent"], HELD_AT_LEAST_PERCENT, "%",
                        is_exact=True)  # fmt: skip
        report.at_most(f"told wait rises for a visitor: {said}", found["rises_percent"], None, "% of steps")


def main() -> int:
    """Prints the table; 1 when a yardstick is missed."""
    if unknown := set(sys.argv[1:]) - set(NAMES):
        print(f"unknown: {', '.join(sorted(unknown))}; known: {', '.join(NAMES)}", file=sys.stderr)
        return 2
    report = Report()
    add_to(report, sys.argv[1:] or NAMES)
    print(report.text())
    return 1 if report.missed else 0


if __name__ == "__main__":
    sys.exit(main())
