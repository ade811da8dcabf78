"""The lines of a plan, or of what came of it."""

from __future__ import annotations

from textwrap import wrap

from tau_browser.actions.wording import Line, Tone
from tau_browser.tui.glyphs import Glyphs
from tau_browser.tui.plan.proposal import Detail
from tau_browser.tui.rows_view import Piece, RowsView


class PlanView(RowsView):
    """The lines of a plan."""

    def __init__(self, glyphs: Glyphs) -> None:
        super().__init__(id="plan", glyphs=glyphs)
        self._details: list[Detail] = []
        self._rows: list[tuple[str, Detail]] = []  # what is said in full, wrapped

    @property
    def detail(self) -> Detail:
        """What the line under the cursor belongs to."""
        return self._rows[self.cursor][1] if self._rows else Detail(Line(""))

    def show(self, details: list[Detail]) -> None:
        self._details = details
        self._wrap()

    def on_resize(self) -> None:
        self._wrap()

    def _wrap(self) -> None:
        width = max(20, self.size.width - 3)
        self._rows = [
            (text, detail) for detail in self._details for text in _wrapped(detail.line, width)
        ]
        self.rows_changed()

    def row_count(self) -> int:
        return len(self._rows)

    def empty_text(self) -> str:
        return "reading the session"

    def draw(self, row: int, width: int) -> tuple[list[Piece], list[Piece]]:
        text, detail = self._rows[row]
        return [(f" {text}", detail.line.tone)], []


def _wrapped(line: Line, width: int) -> list[str]:
    """A line in as many as it needs; what only lists entries stays one line each."""
    if len(line.text) <= width or line.tone is Tone.QUIET:
        return [line.text]
    indent = " " * max(4, len(line.text) - len(line.text.lstrip()) + 2)
    return wrap(line.text, width, subsequent_indent=indent, break_on_hyphens=False)
