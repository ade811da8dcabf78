"""Which lines of an outline are visible, given what is folded and what is filtered away.

Visible lines are one sorted array: a frame costs what it shows, a fold what it changes.
"""

from __future__ import annotations

import numpy as np

from tau_browser.model.columns import Bools, Int32s
from tau_browser.model.outline import Outline


class Rows:
    """The visible rows of an outline. A row is an index into what is visible, from 0.

    Filtered, some lines are kept, and each stretch of others is one row, a **gap**, which stands
    at the first of them.
    """

    def __init__(
        self, outline: Outline, folded: Bools | None = None, kept: Bools | None = None
    ) -> None:
        """`folded`, by line, is changed in place. `kept`, by line: what a filter leaves, with all
        that holds it; None: everything."""
        self.outline = outline
        self.folded = np.zeros(len(outline), np.bool_) if folded is None else folded
        self._kept = kept
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
        if not len(self.lines):
            return False
        row = self.row(entry)
        return self.entry(row) == entry and not self.gap(row)

    def gap(self, row: int) -> int:
        """How many lines a filter hides behind a row; 0 for the row of an entry."""
        line = int(self.lines[row])
        if self._kept is None or self._kept[line]:
            return 0
        end = int(self.lines[row + 1]) if row + 1 < len(self.lines) else len(self.outline)
        return end - line

    def is_foldable(self, row: int) -> bool:
        """Whether the row heads a group."""
        return bool(self.outline.size[self.lines[row]] > 1) and not self.gap(row)

    def is_folded(self, row: int) -> bool:
        """Whether the row hides the group that it heads."""
        return bool(self.folded[self.lines[row]]) and self.is_foldable(row)

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
        """Fold or unfold the group that a row heads; show what a gap hides."""
        line = int(self.lines[row])
        if self._kept is not None:
            if gap := self.gap(row):
                self._kept[line : line + gap] = True
            else:
                self.folded[line] = not self.folded[line]
            self.lines = self._visible()  # a gap may reach beyond the group
            return
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
        """Show what hides an entry; returns its row, or the nearest if it has no line."""
        while len(self) and not self.shows(entry):
            row = self.row(entry)
            if not (self.is_folded(row) or self.gap(row)):
                break
            self.toggle(row)
        return self.row(entry)

    def _visible(self, start: int = 0, end: int | None = None) -> Int32s:
        """The visible lines in a range, as if the range's own surroundings were unfolded."""
        end = len(self.outline) if end is None else end
        kept = None if self._kept is None else self._kept[start:end]
        folded = self.folded[start:end] if kept is None else self.folded[start:end] & kept
        sizes = np.where(folded, self.outline.size[start:end], 1)
        heads = np.flatnonzero(sizes > 1)
        change = np.zeros(end - start + 1, np.int32)
        np.add.at(change, heads + 1, 1)
        np.add.at(change, np.minimum(heads + sizes[heads], end - start), -1)
        lines = np.flatnonzero(np.cumsum(change[:-1]) == 0)
        if kept is not None:
            lines = lines[_kept_or_first(kept[lines])]
        return (lines + start).astype(np.int32)


def kept_with_holders(outline: Outline, lines: Int32s) -> Bools:
    """These lines and the heads of all groups that hold them, as a column over lines."""
    before = np.zeros(len(outline) + 1, np.int32)
    before[1:][lines] = 1
    before = np.cumsum(before, dtype=np.int32)
    ends = np.arange(len(outline)) + outline.size
    return np.asarray(before[ends] > before[:-1], np.bool_)


def _kept_or_first(kept: Bools) -> Bools:
    """What is kept, and the first of each stretch that is not."""
    after_kept = np.concatenate([[True], kept[:-1]])
    return np.asarray(kept | after_kept, np.bool_)
