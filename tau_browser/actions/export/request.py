"""What a person asks to export."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum


class Format(StrEnum):
    """The form of an export, which is also how its name ends."""

    HTML = "html"
    MARKDOWN = "md"
    JSON = "json"
    JSONL = "jsonl"

    @property
    def redacts(self) -> bool:
        """Whether secrets are hidden unless a person says otherwise: in what is made to be sent,
        not in what is made to be read again."""
        return self in (Format.HTML, Format.MARKDOWN)


@dataclass(frozen=True, slots=True)
class ExportRequest:
    """What to export. at: only the path to this entry, by place · subtree: only what hangs below
    this one · only: only these · redact: None: as the format has it · shown: secrets that are not
    hidden."""

    format: Format
    output: str = ""
    at: int | None = None
    subtree: int | None = None
    only: tuple[int, ...] = ()
    redact: bool | None = None
    shown: frozenset[str] = frozenset()

    @property
    def redacts(self) -> bool:
        """Whether secrets are hidden."""
        return self.format.redacts if self.redact is None else self.redact
