"""What an audit of a store's integrity says: whether what is there is what was written."""

from __future__ import annotations

from dataclasses import dataclass, field
from enum import StrEnum
from typing import Protocol, runtime_checkable


class Verdict(StrEnum):
    """From the best to the worst."""

    VERIFIED = "verified"
    UNSIGNED = "consistent but unsigned"  # whoever can write could have made all of it anew
    UNKNOWN = "cannot tell"
    BROKEN = "broken"

    @property
    def rank(self) -> int:
        """0 for the best."""
        return list(Verdict).index(self)


@dataclass(frozen=True, slots=True)
class Check:
    """One thing that was audited. name: for a person · where: the id of the entry that shows it,
    or "" · reasons: the first bad place comes first."""

    name: str
    verdict: Verdict
    reasons: tuple[str, ...] = ()
    where: str = ""

    def __str__(self) -> str:
        said = f"{self.name}: {self.verdict.value}"
        at = " at " if self.verdict is Verdict.BROKEN else ": "
        return said + (at + "; ".join(self.reasons) if self.reasons else "")


@dataclass(frozen=True, slots=True)
class Report:
    """The audit of one session's store. remarks: what holds of all of it · anchor: what a person
    may keep elsewhere, to hold the store against it later; "" if there is nothing."""

    path: str
    checks: list[Check]
    remarks: list[str] = field(default_factory=list)
    anchor: str = ""

    @property
    def verdict(self) -> Verdict:
        """The worst of all checks; nothing to check is nothing that could be told."""
        verdicts = [check.verdict for check in self.checks]
        return max(verdicts, key=lambda verdict: verdict.rank, default=Verdict.UNKNOWN)


@runtime_checkable
class Verifying(Protocol):
    """A store whose sessions can be audited."""

    def verify(self, path: str, anchor: str = "") -> Report:
        """The audit of a session. anchor: what an earlier report gave, which must still hold.

        Raises StoreError.
        """
        ...
