"""A recall then and now: what was found, and what each method of the memory finds today."""

from __future__ import annotations

from collections.abc import Sequence
from typing import ClassVar

from rich.cells import set_cell_size
from textual.app import ComposeResult
from textual.binding import BindingType
from textual.screen import Screen

from tau_browser.audit.memory import Document, Now
from tau_browser.audit.recall import Hit, Recall
from tau_browser.audit.replay import MethodNow, Place, Replay
from tau_browser.model.text import safe_line
from tau_browser.tui import keys
from tau_browser.tui.audit.destination import Destination, destination_of, elsewhere
from tau_browser.tui.bar import Bar
from tau_browser.tui.glyphs import Glyphs
from tau_browser.tui.rows_view import Piece, RowsView

_COLUMN = 22  # cells that a method needs
_HINTS = "m another method · Enter to the entry · Esc back · all but the first column is of now"
_STYLES = {"kept": "", "moved": "accent", "new": "warning", "not found": "error"}
_BECAME = {Now.SAME: "", Now.CHANGED: " changed", Now.DELETED: " deleted"}


class ReplayScreen(Screen[Destination | None]):
    """Then, in the first column; now, in one for each method, as many as there is room for."""

    BINDINGS: ClassVar[list[BindingType]] = [*keys.bindings(keys.REPLAY)]
    DEFAULT_CSS = "ReplayScreen RowsView { height: 1fr; }"

    def __init__(
        self, recall: Recall, hits: Sequence[Hit], replay: Replay, glyphs: Glyphs, *, opens: bool
    ) -> None:
        """`opens`: whether the sessions of the memory can be opened."""
        super().__init__()
        self._recall = recall
        self._replay = replay
        self._opens = opens
        self._table = _ThenAndNow(hits, replay, glyphs)

    def compose(self) -> ComposeResult:
        verdict = f"{self._replay.verdict.value} · {'; '.join(self._replay.reasons)}"
        yield Bar(safe_line(f"Asked again now: {self._recall.query}"), classes="-focused")
        yield Bar(safe_line(verdict), id="drift")
        yield Bar(id="replay-head", classes="-plain")
        yield self._table
        yield Bar(id="replay-status")
        yield Bar(_HINTS, classes="-plain")

    def on_mount(self) -> None:
        self._table.focus()

    def on_resize(self) -> None:
        self.call_after_refresh(self._show_head)

    def _show_head(self) -> None:
        self.query_one("#replay-head", Bar).show(self._table.head())

    def on_rows_view_moved(self, event: RowsView.Moved) -> None:
        self.query_one("#replay-status", Bar).show(self._table.about(event.row))

    def on_rows_view_chosen(self, event: RowsView.Chosen) -> None:
        document = self._table.document(event.row)
        if document is None or not document.session:
            self.query_one("#replay-status", Bar).show("this document is no entry of a session")
        elif not self._opens:
            self.query_one("#replay-status", Bar).show(elsewhere(document))
        else:
            self.dismiss(destination_of(document))

    def action_method(self) -> None:
        """The next method in the first column of now."""
        self._table.turn()
        self._show_head()

    def action_back(self) -> None:
        self.dismiss(None)


class _ThenAndNow(RowsView):
    def __init__(self, hits: Sequence[Hit], replay: Replay, glyphs: Glyphs) -> None:
        super().__init__(id="then-and-now", glyphs=glyphs)
        self._hits = hits
        self._replay = replay
        self._first = 0  # the method that stands first

    def turn(self) -> None:
        """Let the next method stand first."""
        self._first = (self._first + 1) % max(1, len(self._replay.methods))
        self.rows_changed()

    def row_count(self) -> int:
        return max([len(self._hits), *(len(each.places) or 1 for each in self._replay.methods)])

    def head(self) -> str:
        """The names of the columns."""
        width, shown = self._layout(self.size.width - 1)
        names = ["then, as recorded", *(f"{each.method} now" for each in shown)]
        return "".join(set_cell_size(name, width) for name in names)

    def draw(self, row: int, width: int) -> tuple[list[Piece], list[Piece]]:
        column, shown = self._layout(width)
        pieces = [self._then(row, column)]
        pieces += [_now(each, row, column) for each in shown]
        return pieces, []

    def document(self, row: int) -> Document | None:
        """The document of a row: that of the first method of now, else of then."""
        methods = self._replay.methods
        places = methods[self._first].places if methods else []
        if row < len(places) and places[row].now:
            return places[row].document
        if row < len(self._hits):
            return self._replay.documents.get(self._hits[row].document, (None, None))[1]
        return None

    def about(self, row: int) -> str:
        """A row in words."""
        methods = self._replay.methods
        places = methods[self._first].places if methods else []
        if row >= len(places):
            return ""
        place = places[row]
        ranks = [f"rank {place.then} then"] if place.then else []
        ranks += [f"rank {place.now} now"] if place.now else []
        title = f"doc {place.document.id} {place.document.title}"
        return safe_line(" · ".join([methods[self._first].method, title, place.word, *ranks]))

    def _layout(self, width: int) -> tuple[int, list[MethodNow]]:
        """The width of a column, and the methods there is room for."""
        methods = self._replay.methods
        order = [*methods[self._first :], *methods[: self._first]]
        shown = order[: max(1, width // _COLUMN - 1)]
        return width // (len(shown) + 1), shown

    def _then(self, row: int, width: int) -> Piece:
        if row >= len(self._hits):
            return set_cell_size("", width), ""
        hit = self._hits[row]
        became = self._replay.documents.get(hit.document, (Now.SAME, None))[0]
        text = f"{hit.rank:>2} doc {hit.document}{_BECAME[became]} {hit.title}"
        return _cell(text, width), "warning" if _BECAME[became] else ""


def _now(method: MethodNow, row: int, width: int) -> Piece:
    if method.problem:
        return _cell(method.problem if row == 0 else "", width), "dim"
    if row >= len(method.places):
        return _cell("", width), ""
    place = method.places[row]
    return _cell(_shown(place), width), _STYLES[place.word]


def _shown(place: Place) -> str:
    if not place.now:
        return f" - doc {place.document.id} not found"
    moved = f" was {place.then}" if place.word == "moved" else " new" if not place.then else ""
    return f"{place.now:>2} doc {place.document.id}{moved} {place.document.title}"


def _cell(text: str, width: int) -> str:
    return set_cell_size(safe_line(text), max(0, width - 1)) + " "
