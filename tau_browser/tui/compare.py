"""Two entries or two branches side by side on a screen of their own."""

from __future__ import annotations

from typing import ClassVar

from rich.cells import set_cell_size
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.screen import Screen

from tau_browser.model.compare import Comparison, Side
from tau_browser.model.session import Session
from tau_browser.model.text import counted, safe_line
from tau_browser.model.tree import NOWHERE
from tau_browser.tui.bar import Bar
from tau_browser.tui.glyphs import Glyphs
from tau_browser.tui.rows_view import Piece, RowsView

_SIGNS = {Side.SAME: (" ", " "), Side.CHANGED: ("-", "+")}
_SIGNS |= {Side.LEFT: ("-", " "), Side.RIGHT: (" ", "+")}


class ComparisonView(RowsView):
    """The rows of a comparison: - for lines of the left, + for lines of the right."""

    def __init__(self, comparison: Comparison, glyphs: Glyphs) -> None:
        super().__init__(id="comparison", glyphs=glyphs)
        self._comparison = comparison

    def row_count(self) -> int:
        return len(self._comparison.rows)

    def draw(self, row: int, width: int) -> tuple[list[Piece], list[Piece]]:
        how, left, right = self._comparison.rows[row]
        minus, plus = _SIGNS[how]
        half = (width - 1) // 2 - 2
        return [
            (f"{minus} ", "error"),
            (set_cell_size(safe_line(left), half), "" if minus == " " else "error"),
            ("│", "dim"),
            (f"{plus} ", "accent"),
            (safe_line(right), "" if plus == " " else "accent"),
        ], []

    def action_next_difference(self) -> None:
        self._go(1)

    def action_previous_difference(self) -> None:
        self._go(-1)

    def _go(self, step: int) -> None:
        """To the start of the next or previous stretch of lines that differ."""
        rows = self._comparison.rows
        differs = [how is not Side.SAME for how, _, _ in rows]
        row = self.cursor + step
        while 0 <= row < len(rows) and not (differs[row] and (row == 0 or not differs[row - 1])):
            row += step
        if 0 <= row < len(rows):
            self.move_to(row)
        else:
            self.app.bell()


class CompareScreen(Screen[None]):
    """A comparison, with what is compared said at the top."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("escape,q,d", "dismiss", "back", show=False),
        Binding("n", "next_difference", "next difference", show=False),
        Binding("N", "previous_difference", "previous difference", show=False),
    ]

    def __init__(self, session: Session, comparison: Comparison, glyphs: Glyphs) -> None:
        super().__init__()
        self._session = session
        self._comparison = comparison
        self._glyphs = glyphs

    def compose(self) -> ComposeResult:
        yield Bar(self._title(), classes="-focused")
        yield ComparisonView(self._comparison, self._glyphs)
        yield Bar("n N differences · j k move · Esc back")

    def action_next_difference(self) -> None:
        self.query_one(ComparisonView).action_next_difference()

    def action_previous_difference(self) -> None:
        self.query_one(ComparisonView).action_previous_difference()

    def _title(self) -> str:
        comparison, session = self._comparison, self._session
        left, right = (safe_line(session.entry_id(side[-1])) for side in _sides(comparison))
        changed = sum(how is not Side.SAME for how, _, _ in comparison.rows)
        cut = f" · {comparison.cut:,} further lines not compared" if comparison.cut else ""
        if not comparison.of_branches:
            return f"{left} │ {right} · {counted(changed, 'line')} of difference{cut}"
        fork = comparison.fork
        where = f"fork at {safe_line(session.entry_id(fork))}" if fork != NOWHERE else "two roots"
        sizes = " │ ".join(counted(len(side), "entry") for side in _sides(comparison))
        return (
            f"{where} · {left} │ {right} · {sizes} · {counted(changed, 'line')} of difference{cut}"
        )


def _sides(comparison: Comparison) -> tuple[list[int], list[int]]:
    return comparison.left, comparison.right
