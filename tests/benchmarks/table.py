"""One figure, and how a run shows it."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Figure:
    """What was measured, as a number that means the same on any machine."""

    what: str
    value: float
    limit: float
    unit: str = "x"

    @property
    def missed(self) -> bool:
        """Whether the value is above its limit."""
        return self.value > self.limit


def print_table(figures: list[Figure]) -> None:
    """The figures as a Markdown table."""
    print("| figure | measured | limit |")
    print("|---|---|---|")
    for figure in figures:
        value, limit = (f"{number:,.4g} {figure.unit}" for number in (figure.value, figure.limit))
        print(f"| {figure.what} | {value}{' **missed**' if figure.missed else ''} | {limit} |")
