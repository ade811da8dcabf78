"""Which lines of an outline are visible, given what is folded.

Visible lines are one sorted array: a frame costs what it shows, a fold what it changes.
"""

from __future__ import annotations

import numpy as np

from tau_browser.model.columns import Bools, Int32s
from tau_browser.model.outline import Outline


class Rows:
    """The visible rows of an outline. A row is an index into what is visible, from 0."""

    def __init__(self, outline: Outline, folded: Bools | None = None) -> None:
        self.outline = outline
        self.folded = np.zeros(len(outline), np.bool_) if folded is None else folded
        self.lines: Int32s = self._visible()

    def __len__(self) -> int:
        return len(self.lines)

    def entry(self, row: int) -> int:
        """The entry shown at a row."""
        return int(self.outline.entry[self.lines[row]])

    def row(self, entry: int) -> int:
        """The row that shows an entry, or the nearest row above that hides it."""
        line = self.outline.line[entry]
        return max(0, int(np.searchsorted(self.lines, line, "right")) - 1)

    def shows(self, entry: int) -> bool:
        """Whether an entry has a row of its own."""
        return bool(len(self.lines)) and self.entry(self.row(entry)) == entry

    def is_foldable(self, row: int) -> bool:
        """Whether the row heads a group."""
        return bool(self.outline.size[self.lines[row]] > 1)

    def is_folded(self, row: int) -> bool:
        """Whether the row hides the group that it heads."""
        line = self.lines[row]
        return bool(self.folded[line] and self.outline.size[line] > 1)

    def hidden(self, row: int) -> int:
        """How many lines a folded row hides."""
        return int(self.outline.size[self.lines[row]]) - 1 if self.is_folded(row) else 0

    def parent(self, row: int) -> int:
        """The row of the group that holds this row, or the row itself at the outermost level."""
        outline = self.outline
        line = int(self.lines[row])
        above = self.lines[:row]
        holds = above + outline.size[above] > line
        holders = np.flatnonzero(holds)
        return int(holders[-1]) if len(holders) else row

    def toggle(self, row: int) -> None:
        """Fold or unfold the group that a row heads."""
        line = int(self.lines[row])
        self.folded[line] = not self.folded[line]
        end = line + int(self.outline.size[line])
        after = int(np.searchsorted(self.lines, end))
        inside = np.empty(0, np.int32) if self.folded[line] else self._visible(line + 1, end)
        self.lines = np.concatenate([self.lines[: row + 1], inside, self.lines[after:]])

    def fold_all(self) -> None:
        """Fold every group."""
        self.folded[:] = self.outline.size > 1
        self.lines = self._visible()

    def unfold_all(self) -> None:
        """Unfold every group."""
        self.folded[:] = False
        self.lines = self._visible()

    def reveal(self, entry: int) -> int:
        """Unfold whatever hides an entry; returns its row, or the nearest if it has no line."""
        while not self.shows(entry) and len(self) and self.is_folded(self.row(entry)):
            self.toggle(self.row(entry))
        return self.row(entry)

    def _visible(self, start: int = 0, end: int | None = None) -> Int32s:
        """The visible lines in a range, as if the range's own surroundings were unfolded."""
        end = len(self.outline) if end is None else end
        sizes = np.where(self.folded[start:end], self.outline.size[start:end], 1)
        heads = np.flatnonzero(sizes > 1)
        change = np.zeros(end - start + 1, np.int32)
        np.add.at(change, heads + 1, 1)
        np.add.at(change, np.minimum(heads + sizes[heads], end - start), -1)
        return (np.flatnonzero(np.cumsum(change[:-1]) == 0) + start).astype(np.int32)
