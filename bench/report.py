"""What was measured, against what was promised."""

from __future__ import annotations

from dataclasses import dataclass, field

NOISE = 1.10  # two runs of one build differ by up to a tenth on a busy machine


@dataclass
class Report:
    """Rows of (what, measured, yardstick, unit); a yardstick of None is for information."""

    rows: list[tuple[str, float, float | None, str]] = field(default_factory=list)
    exact: set[str] = field(default_factory=set)  # figures without noise: the same in every run

    def at_most(self, what: str, measured: float, limit: float | None, unit: str, *, is_exact: bool = False) -> None:
        """A figure that may not exceed `limit`; `is_exact`: not even by noise."""
        self.rows.append((what, measured, limit, unit))
        self.exact |= {what} if is_exact else set()

    def at_least(self, what: str, measured: float, floor: float, unit: str, *, is_exact: bool = False) -> None:
        """A figure that may not fall below `floor`; `is_exact`: not even by noise."""
        self.exact |= {what} if is_exact else set()
        self.rows.append((what, -measured, -floor, unit))

    @property
    def missed(self) -> list[str]:
        """What missed its yardstick, by more than noise where there is some."""
        out = []
        for what, measured, limit, _ in self.rows:
            noise = 1 if what in self.exact else NOISE
            slack = None if limit is None else limit * noise if limit >= 0 else limit / noise
            if slack is not None and measured > slack:
                out.append(what)
        return out

    def text(self) -> str:
        """The table."""
        lines = [f"{'what':62} {'measured':>12} {'yardstick':>14}  unit"]
        for what, measured, limit, unit in self.rows:
            bound = "" if limit is None else f"{'>=' if limit < 0 else '<='} {abs(limit):,.6g}"
            mark = "   MISSED" if what in self.missed else ""
            lines.append(f"{what:62} {abs(measured):12,.4g} {bound:>14}  {unit}{mark}")
        return "\n".join(lines)
