"""The list of recalls."""

from __future__ import annotations

import os
from collections.abc import Sequence

from tau_browser.audit.marks import on_call
from tau_browser.audit.recall import Outcome
from tau_browser.model.text import counted, safe_line
from tau_browser.tui.audit.listing import Row
from tau_browser.tui.glyphs import Glyphs
from tau_browser.tui.rows_view import Piece, RowsView

_ROOM_FOR_TIMES = 60  # columns
_STYLES = {Outcome.OK: "accent", Outcome.EMPTY: "warning"}


class RecallsView(RowsView):
    """Recalls, under the sessions that made them where there are several."""

    def __init__(self, glyphs: Glyphs) -> None:
        super().__init__(id="recalls", glyphs=glyphs)
        self.rows: Sequence[Row] = []
        self.notice = ""

    @property
    def selected(self) -> Row | None:
        """The row under the cursor."""
        return self.rows[self.cursor] if self.rows else None

    def show(self, rows: Sequence[Row]) -> None:
        """Show other rows; the cursor stays on its recall, if that is still there."""
        kept = self.selected.key if self.selected else None
        self.rows = rows
        self.rows_changed()
        keys = [row.key for row in rows]
        first = next((at for at, row in enumerate(rows) if row.recall is not None), 0)
        self.move_to(keys.index(kept) if kept in keys else first)

    def row_count(self) -> int:
        return len(self.rows)

    def empty_text(self) -> str:
        return self.notice

    def draw(self, row: int, width: int) -> tuple[list[Piece], list[Piece]]:
        item = self.rows[row]
        audit, recall = item.audit, item.recall
        if recall is None:
            name = audit.title or os.path.basename(audit.path)
            right = [(f" {counted(len(audit.recalls), 'recall')}", "dim")]
            return [(safe_line(name), "strong")], right
        failed = _STYLES.get(recall.outcome, "error")
        shade = "dim" if recall.state in ("abandoned", "folded") or recall.copied else ""
        asked = recall.query or (f"doc {recall.document}" if recall.document else "")
        via = f" via {recall.via}" if recall.via else ""
        left: list[Piece] = [
            (f"{recall.number + 1:>3} ", "dim"),
            (safe_line(f"{recall.name}{via} "), f"accent {shade}"),
            (safe_line(asked), shade),
        ]
        right = [(f" {recall.time[11:19]}", "dim")] if width >= _ROOM_FOR_TIMES else []
        if recall.state not in ("path", ""):
            right.append((f" {recall.state}", "dim"))
        if recall.repeat_of >= 0:
            right.append((" repeat", "warning"))
        used = any(hit.verdict.is_used for hit in recall.hits)
        style = "accent strong" if used else failed if failed != "accent" else "dim"
        return left, [*right, (f" {safe_line(on_call(recall))}", style)]
