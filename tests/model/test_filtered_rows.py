"""Rows of which a filter leaves some, against a reading that asks of each line by itself."""

from __future__ import annotations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from tau_browser.model.outline import Outline
from tau_browser.model.rows import Rows, kept_with_holders
from tests.conftest import log_of, read
from tests.model.test_tree_properties import PlainRows, Record, any_trees

OPERATIONS = ["toggle", "toggle", "toggle", "fold_all", "unfold_all", "reveal"]
operations = st.lists(st.tuples(st.sampled_from(OPERATIONS), st.integers(0, 99)), max_size=12)


class PlainFiltered(PlainRows):
    """The same rows: (first line, how many lines it stands for, 0 for the row of an entry)."""

    def __init__(self, sizes: list[int], hits: set[int]) -> None:
        super().__init__(sizes)
        self.kept = hits.union(*(self.holders(line) for line in hits))

    def rows(self) -> list[tuple[int, int]]:
        rows: list[tuple[int, int]] = []
        for line in range(len(self.sizes)):
            if not (self.folded & self.kept).isdisjoint(self.holders(line)):
                continue
            if line in self.kept:
                rows.append((line, 0))
            elif rows and rows[-1][1]:
                rows[-1] = rows[-1][0], rows[-1][1] + 1
            else:
                rows.append((line, 1))
        return rows

    def toggle(self, row: int) -> None:
        line, gap = self.rows()[row]
        if gap:
            self.kept |= set(range(line, line + gap))
        else:
            self.folded ^= {line}

    def reveal(self, line: int) -> None:
        self.folded -= self.kept & set(self.holders(line))
        for first, gap in self.rows():
            if first <= line < first + gap:
                self.kept |= set(range(first, first + gap))
        self.folded -= set(self.holders(line))


@given(any_trees, st.sets(st.integers(0, 23), max_size=5), operations)
def test_filtered_rows_are_the_hits_what_holds_them_and_gaps(
    records: list[Record], hits: set[int], operations: list[tuple[str, int]]
) -> None:
    outline = read(log_of(records)).outline
    hits = {line for line in hits if line < len(outline)}
    rows = filtered(outline, hits)
    expected = PlainFiltered(outline.size.tolist(), hits)
    assert_rows(rows, expected)
    for name, number in operations if len(outline) else ():
        if name == "toggle":
            row = number % len(rows)
            rows.toggle(row)
            expected.toggle(row)
        elif name == "reveal":
            line = number % len(outline)
            entry = int(outline.entry[line])
            row = rows.reveal(entry)
            expected.reveal(line)
            assert rows.entry(row) == entry and rows.shows(entry)
        else:
            getattr(rows, name)()
            getattr(expected, name)()
        assert_rows(rows, expected)


@given(any_trees, st.sets(st.integers(0, 23), max_size=5))
def test_every_line_is_a_row_or_counted_in_one(records: list[Record], hits: set[int]) -> None:
    outline = read(log_of(records)).outline
    rows = filtered(outline, {line for line in hits if line < len(outline)})
    assert sum(rows.gap(row) or 1 for row in range(len(rows))) == len(outline)
    rows.fold_all()
    counts = [rows.gap(row) or 1 + rows.hidden(row) for row in range(len(rows))]
    assert sum(counts) == len(outline)


def filtered(outline: Outline, hits: set[int]) -> Rows:
    return Rows(outline, kept=kept_with_holders(outline, np.array(sorted(hits), np.int32)))


def assert_rows(rows: Rows, expected: PlainFiltered) -> None:
    plain = expected.rows()
    assert [(int(rows.lines[row]), rows.gap(row)) for row in range(len(rows))] == plain
    for row, (line, gap) in enumerate(plain):
        size = expected.sizes[line]
        assert rows.is_foldable(row) == (size > 1 and not gap)
        assert rows.is_folded(row) == (size > 1 and not gap and line in expected.folded)
        assert rows.hidden(row) == (size - 1 if rows.is_folded(row) else 0)
        holders = [at for at in expected.holders(line) if at in expected.kept]
        parent = plain.index((holders[-1], 0)) if holders else row
        assert rows.parent(row) == parent
    shown = {line for line, gap in plain if not gap}
    for line, entry in enumerate(rows.outline.entry.tolist()):
        assert rows.shows(entry) == (line in shown)
