"""Findings about stored data: where, what, and what the reader did about it."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum


class Severity(StrEnum):
    """How a finding should be read."""

    UNREADABLE = "unreadable"  # bytes that hold no entry: not in the tree
    DAMAGE = "damage"  # in the tree, but harmed, or linked to nothing
    NOTE = "note"  # odd but wholly readable
    PENDING = "pending"  # a last line that is still being written
    REMARK = "remark"  # nothing is odd: how it was read, for whoever counts the lines


@dataclass(frozen=True, slots=True)
class Diagnostic:
    """One finding. `line` counts from 1, `byte` is the offset in the source; None: the whole.

    source: where it was stored, in words, for lines that were made from something else.
    """

    line: int | None
    byte: int | None
    reason: str
    severity: Severity
    source: str = ""

    def __str__(self) -> str:
        where = "whole file" if self.line is None else f"line {self.line}, byte {self.byte}"
        return f"{self.source or where}: {self.reason}"
