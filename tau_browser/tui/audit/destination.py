"""Where a person wants to go from the audit."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Destination:
    """An entry: the path of its session, and the byte at which its record starts, or its id."""

    path: str
    start: int | None = None
    entry: str = ""
