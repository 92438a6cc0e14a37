"""`python -m bench`: every yardstick that applies; exit code 1 when one is missed by more than noise."""

from __future__ import annotations

import sys

from bench import component, console, edge, estimate, redis_scripts, sale
from bench.report import Report


def main() -> int:
    """Measures, prints, answers the exit code."""
    report = Report()
    component.measure(report)
    redis_scripts.add_to(report)
    edge.measure(report)
    sale.add_to(report)
    console.add_to(report)
    estimate.add_to(report)
    print(report.text())
    for what in report.missed:
        print(f"missed: {what}", file=sys.stderr)
    return 1 if report.missed else 0


if __name__ == "__main__":
    sys.exit(main())
