"""Where what is sought occurs in what is drawn, also where a row's end cuts it in two."""

from __future__ import annotations

from bisect import bisect_right
from collections import defaultdict
from collections.abc import Callable, Sequence
from itertools import pairwise

from rich.cells import cell_len
from rich.segment import Segment
from rich.style import Style

Spans = Callable[[str], list[tuple[int, int]]]
"""Where something occurs in a text: start and stop offsets, in order, apart from each other."""

Match = list[tuple[int, int, int]]
"""The stretches of one occurrence: (row, first character, character after the last)."""


_FOUND = Style(reverse=True, underline=True)
_FOUND_HERE = Style(reverse=True, underline=True, bold=True)
_NEAR = Style(underline=True, italic=True)


class Finder:
    """The occurrences of what is sought in some rows, one of which is the current one."""

    def __init__(self) -> None:
        self.spans: Spans | None = None
        self.near: Spans | None = None
        """Where what is only near to what is sought occurs, apart from it."""
        self.current: int | None = None
        self.matches: list[Match] = []
        self._rows: dict[int, list[tuple[int, int, int]]] = {}
        self._near: set[int] = set()  # numbers of matches

    def find(self, rows: list[list[Segment]], width: int) -> None:
        """Look through rows of this width; the current occurrence keeps its number."""
        near = self._found(rows, width, self.near)
        self.matches = sorted([*self._found(rows, width, self.spans), *near])
        starts = {match[0] for match in near}
        self._near = {at for at, match in enumerate(self.matches) if match[0] in starts}
        self._rows = defaultdict(list)
        for number, match in enumerate(self.matches):
            for row, first, last in match:
                self._rows[row].append((first, last, number))
        if self.current is not None:
            self.current = min(self.current, len(self.matches) - 1) if self.matches else None

    def _found(self, rows: list[list[Segment]], width: int, spans: Spans | None) -> list[Match]:
        if spans is None:
            return []
        # whoever has something to seek has this module, and what it needs, already
        from tau_browser.search.find import QueryError

        texts = ["".join(segment.text for segment in row) for row in rows]
        try:
            return find_matches(texts, width, spans)
        except QueryError:  # an expression without end: whoever asked for it is told elsewhere
            return []

    def row(self) -> int | None:
        """The row where the current occurrence begins."""
        return None if self.current is None else self.matches[self.current][0][0]

    def marked(self, at: int, row: list[Segment]) -> list[Segment]:
        """A row with its occurrences marked."""
        spans = [
            (first, last, self._style(number)) for first, last, number in self._rows.get(at, ())
        ]
        return marked(row, spans) if spans else row

    def _style(self, number: int) -> Style:
        if number in self._near:
            return _NEAR
        return _FOUND_HERE if number == self.current else _FOUND


def find_matches(rows: Sequence[str], width: int, spans: Spans) -> list[Match]:
    """The occurrences of what is sought, in the order in which they stand.

    A row that was folded is read on in the next: without a space if it is full, with one if only
    the next word did not fit.
    """
    text, starts, skipped = _read(rows, width)
    matches = []
    for start, stop in spans(text):
        match: Match = []
        while start < stop:
            row = bisect_right(starts, start) - 1
            end = starts[row + 1] if row + 1 < len(starts) else len(text)
            first = start - starts[row] + skipped[row]
            last = min(min(stop, end) - starts[row] + skipped[row], len(rows[row].rstrip()))
            if first < last:
                match.append((row, first, last))
            start = end
        if match:
            matches.append(match)
    return matches


def marked(row: list[Segment], spans: list[tuple[int, int, Style]]) -> list[Segment]:
    """A row with some stretches, given in characters and in order, in another style."""
    segments, at = [], 0
    for text, style, _ in row:
        cuts = {0, len(text)}
        cuts |= {min(max(edge - at, 0), len(text)) for span in spans for edge in span[:2]}
        edges = sorted(cuts)
        for start, stop in pairwise(edges):
            over = [mark for first, last, mark in spans if first <= at + start < last]
            mark = (style or Style()) + over[-1] if over else style
            segments.append(Segment(text[start:stop], mark))
        at += len(text)
    return segments


def _read(rows: Sequence[str], width: int) -> tuple[str, list[int], list[int]]:
    """The rows as one text, where each starts in it, and how many blanks it starts after."""
    pieces: list[str] = []
    starts: list[int] = []
    skipped: list[int] = []
    size, before = 0, ""
    for row in rows:
        text = row.rstrip()
        joint = _joint(before, text, width) if starts else ""
        blanks = 0 if joint == "\n" else len(text) - len(text.lstrip())
        pieces += [joint, text[blanks:]]
        starts.append(size + len(joint))
        skipped.append(blanks)
        size += len(joint) + len(text) - blanks
        before = text
    return "".join(pieces), starts, skipped


def _joint(before: str, after: str, width: int) -> str:
    """What stands between two rows: nothing, a space, or the end of a line."""
    used = cell_len(before)
    if used >= width:
        return ""
    word = after.split(maxsplit=1)
    return " " if before and word and used + 1 + cell_len(word[0]) > width else "\n"
