"""What is read from an aethergraph workspace: values with the place where each is stored."""

from __future__ import annotations

from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Any, NamedTuple

from tau_browser.model.diagnostic import Severity
from tau_browser.model.times import NO_TIME, format_time, parse_time

Json = dict[str, Any]


class Spot(NamedTuple):
    """Where something is stored: a file of the workspace, and a line with its byte offset, or a
    row of a table. 0 and "" where there is no such thing."""

    file: str
    line: int = 0
    byte: int = 0
    table: str = ""
    row: int = 0

    def __str__(self) -> str:
        if self.table:
            return f"{self.file}, row {self.row} of {self.table}"
        return f"{self.file}, line {self.line}" if self.line else self.file

    def told(self) -> Json:
        """The same for a record."""
        if self.table:
            return {"file": self.file, "table": self.table, "row": self.row}
        return {"file": self.file, **({"line": self.line, "byte": self.byte} if self.line else {})}


class Stored(NamedTuple):
    """An object and its place."""

    value: Json
    spot: Spot


@dataclass(frozen=True, slots=True)
class Damage:
    """Something that could not be read as it should, and what there was of it."""

    spot: Spot
    reason: str
    severity: Severity
    text: str = ""


@dataclass(slots=True)
class Read:
    """What reading gave: values, and what stood in the way."""

    values: list[Stored] = field(default_factory=list)
    damage: list[Damage] = field(default_factory=list)

    def add(self, other: Read) -> None:
        """Take over what another reading gave."""
        self.values += other.values
        self.damage += other.damage


def text_in(value: Json, name: str) -> str:
    """A field that should be text; "" where it is not."""
    found = value.get(name)
    return found if isinstance(found, str) else ""


def dict_in(value: Json, name: str) -> Json:
    """A field that should be an object; {} where it is not."""
    found = value.get(name)
    return found if isinstance(found, dict) else {}


def list_in(value: Json, name: str) -> list[Any]:
    """A field that should be a list; [] where it is not."""
    found = value.get(name)
    return found if isinstance(found, list) else []


def stamp_in(value: Json, *names: str) -> str:
    """The first time under one of these names, in τ's spelling; "" where there is none."""
    for name in names:
        found = value.get(name)
        if isinstance(found, str) and len(found) == 20 and found[-1] == "Z":
            return f"{found[:-1]}.000Z"  # by far the most: whole seconds of UTC
        if (milliseconds := parse_time(found)) != NO_TIME:
            return format_time(milliseconds) or ""
    return ""


def whole_seconds(ts: Any) -> str:
    """A time as events spell it before they are stored as a number: "2026-03-02T09:00:07Z"."""
    if isinstance(ts, int | float) and not isinstance(ts, bool):
        try:
            moment = datetime.fromtimestamp(ts, UTC)
        except (ValueError, OverflowError, OSError):
            return ""
        return moment.strftime("%Y-%m-%dT%H:%M:%SZ")
    return ts if isinstance(ts, str) else ""
