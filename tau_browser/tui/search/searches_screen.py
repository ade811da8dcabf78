"""Searches from before: those that were saved under a name, and the last queries."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.screen import Screen

from tau_browser import config
from tau_browser.model.text import safe_line
from tau_browser.search.commands import command_line
from tau_browser.search.saved import Saved, SavedError, SavedSearches
from tau_browser.tui.bar import Bar
from tau_browser.tui.glyphs import Glyphs
from tau_browser.tui.rows_view import Piece, RowsView


@dataclass(frozen=True, slots=True)
class _Row:
    """A search, with its name if it has one; or a heading."""

    name: str
    search: Saved | None = None


class SearchesScreen(Screen[Saved | None]):
    """Enter runs a search: it is the result."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("escape,q", "dismiss", "back", show=False),
        Binding("d,delete", "delete", "delete the saved search", show=False),
    ]

    def __init__(self, glyphs: Glyphs) -> None:
        super().__init__()
        self._searches = SavedSearches(config.state_folder())
        self._view = _SearchesView(glyphs)
        self._said = Bar(classes="-plain")

    def compose(self) -> ComposeResult:
        yield Bar("Searches from before", classes="-focused")
        yield self._view
        yield self._said
        yield Bar("Enter search · d delete a saved one · Esc back")

    def on_mount(self) -> None:
        self._list()
        self._view.move_to(1)

    def on_rows_view_moved(self, event: RowsView.Moved) -> None:
        row = self._view.selected
        self._said.show(safe_line(command_line(row.search)) if row and row.search else "")

    def on_rows_view_chosen(self, event: RowsView.Chosen) -> None:
        row = self._view.selected
        if row is not None and row.search is not None:
            self.dismiss(row.search)

    def action_delete(self) -> None:
        row = self._view.selected
        if row is None or not row.name or row.search is None:
            self._said.show("only a saved search can be deleted")
            return
        try:
            self._searches.delete(row.name)
        except SavedError as error:
            self._said.show(safe_line(str(error)))
            return
        self._list()
        self._said.show(safe_line(f"deleted: {row.name} · {command_line(row.search)}"))

    def _list(self) -> None:
        try:
            saved = self._searches.all()
        except SavedError as error:
            saved = {}
            self._said.show(safe_line(str(error)))
        rows = [_Row(f"Saved: {len(saved):,}"), *(_Row(name, it) for name, it in saved.items())]
        queries = config.remembered_queries()[::-1]
        rows += [_Row(f"Before: {len(queries):,}"), *(_Row("", Saved(it)) for it in queries)]
        self._view.show(rows)


class _SearchesView(RowsView):
    def __init__(self, glyphs: Glyphs) -> None:
        super().__init__(id="searches", glyphs=glyphs)
        self._rows: list[_Row] = []

    @property
    def selected(self) -> _Row | None:
        """The row under the cursor."""
        return self._rows[self.cursor] if self._rows else None

    def show(self, rows: list[_Row]) -> None:
        """Show these."""
        self._rows = rows
        self.rows_changed()

    def row_count(self) -> int:
        return len(self._rows)

    def draw(self, row: int, width: int) -> tuple[list[Piece], list[Piece]]:
        item = self._rows[row]
        if item.search is None:
            return [(item.name, "strong")], []
        if not item.name:
            return [(f"  {safe_line(item.search.query)}", "")], []
        return [(f"  {safe_line(item.name)}  ", "accent"), (safe_line(item.search.query), "")], []
