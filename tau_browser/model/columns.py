"""A session as columns: one small array per fact about an entry, not one object per entry."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

Int32s = npt.NDArray[np.int32]
Int64s = npt.NDArray[np.int64]
Codes = npt.NDArray[np.uint8]
Places = npt.NDArray[np.intp]
Flags = npt.NDArray[np.uint16]
Bools = npt.NDArray[np.bool_]

NO_KEY = hash(None)
"""Key of an absent id: what `hash` gives for a parentId of null."""
PREVIOUS = "\x00the entry before"
"""Stands for the parent of an entry that hangs, by its format, where it was written: under the
entry before it, and over what hangs under that from there on."""
PREVIOUS_KEY = hash(PREVIOUS)


class Flag:
    """Facts that most entries lack, one bit each."""

    INCOMPLETE = 1  # a placeholder whose final line never came (tau-format 1.7)
    COPIED = 2  # minted by a branch or a paste: has copiedFrom
    LANE = 4  # a 0.9.1 sub-agent entry: has branchOf
    ERROR = 8  # a failed tool, a failed stream, a turn_error or branch_error
    ABORTED = 16  # stopped by the user
    NO_ID = 32  # nothing can refer to it
    SAME_ID = 64  # another entry carries the same id
    GOES_ON = 128  # its program goes on here, as only the whole log tells
    CONFIG = 256  # a customEntry that sets the configuration
    CYCLE = 512  # its parent link was cut to break a ring
    ORPHAN = 1024  # its parent is not in the session
    NOTED = 2048  # a diagnostic speaks of it


KINDS = (
    "message",
    "customMessage",
    "customEntry",
    "session_info",
    "compaction",
    "branch_summary",
    "elide",
    "navigate",
    "model_change",
    "thinking_change",
    "jmfts:document",
)
ROLES = ("system", "user", "assistant", "toolResult", "custom")

OTHER = 255
"""Code shared by all names that come after the first 255 different ones."""


class Names(dict[str, int]):
    """The strings behind a column of codes: a new string gets the next code on first sight.

    Those that the rules speak of are known from the start, so that none of them is ever OTHER.
    """

    def __init__(self, known: Iterable[str] = ()) -> None:
        super().__init__((name, code) for code, name in enumerate(known))

    def __missing__(self, name: str) -> int:
        code = self[name] = min(len(self), OTHER)
        return code

    def encode(self, names: list[str]) -> Codes:
        """The codes of these strings."""
        if names and names.count(names[0]) == len(names):
            return np.full(len(names), self[names[0]], np.uint8)
        return np.frombuffer(bytes(map(self.__getitem__, names)), np.uint8)

    def where(self, column: Codes, *names: str) -> Bools:
        """Which places of a column of codes hold one of these strings."""
        found = np.zeros(len(column), np.bool_)
        for name in names:
            if name in self:
                found |= column == self[name]
        return found


@dataclass(frozen=True, slots=True)
class Columns:
    """Arrays of equal length n, one place per record, in file order.

    start, stop: byte range of the record in its source · line: from 1 · key, parent: hash of id
    and of parentId · kind, role: codes into a `Names` · flags: bits
    of `Flag` · usage: index into the usage table, or -1.
    """

    start: Int64s
    stop: Int64s
    line: Int32s
    key: Int64s
    parent: Int64s
    kind: Codes
    role: Codes
    flags: Flags
    usage: Int32s

    def __len__(self) -> int:
        return len(self.start)

    def take(self, index: Places) -> Columns:
        """The columns of these places, in this order."""
        return Columns(*(getattr(self, name)[index] for name in COLUMN_TYPES))

    def row(self, place: int) -> tuple[int, int]:
        """Byte range of one record."""
        return int(self.start[place]), int(self.stop[place])


COLUMN_TYPES: dict[str, type[np.generic]] = {
    "start": np.int64,
    "stop": np.int64,
    "line": np.int32,
    "key": np.int64,
    "parent": np.int64,
    "kind": np.uint8,
    "role": np.uint8,
    "flags": np.uint16,
    "usage": np.int32,
}


def concatenate(parts: Sequence[Columns]) -> Columns:
    """The parts one after the other."""
    if len(parts) == 1:
        return parts[0]
    return Columns(
        *(
            np.concatenate([np.empty(0, kind), *(getattr(part, name) for part in parts)])
            for name, kind in COLUMN_TYPES.items()
        )
    )
