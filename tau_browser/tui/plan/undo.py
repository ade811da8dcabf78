"""All changes, the newest first, to take one back."""

from __future__ import annotations

from typing import ClassVar

from textual import work
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.message import Message
from textual.screen import Screen

from tau_browser.actions.journal import Change, Journal
from tau_browser.actions.plan import Verb
from tau_browser.actions.undo import Undoable, Writers, take_back, undoables
from tau_browser.model.text import safe_line
from tau_browser.stores.store import StoreError
from tau_browser.tui.bar import Bar
from tau_browser.tui.glyphs import Glyphs
from tau_browser.tui.plan.watch import Going, Watch
from tau_browser.tui.rows_view import Piece, RowsView


class Known(Message):
    """What the journal holds."""

    def __init__(self, changes: list[Undoable], problem: str) -> None:
        super().__init__()
        self.changes = changes
        self.problem = problem


class TakenBack(Message):
    """A change was taken back, or could not be."""

    def __init__(self, change: Change | None, problem: str) -> None:
        super().__init__()
        self.change = change
        self.problem = problem


class UndoScreen(Screen[Change | None]):
    """The journal. The cursor begins on the last change that stands; Enter takes it back. The
    result is the line of the journal that says so, or None."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("escape,q,u", "leave", "back", show=False),
    ]

    def __init__(self, journal: Journal, writers: Writers, glyphs: Glyphs) -> None:
        super().__init__()
        self._journal = journal
        self._writers = writers
        self._view = _ChangesView(glyphs)
        self._why = Bar("", classes="-plain")
        self._writing: Watch | None = None

    def compose(self) -> ComposeResult:
        yield Bar("Undo · the changes made so far", classes="-focused")
        yield self._view
        yield self._why
        yield Bar("Enter takes the change back · Esc back")

    def on_mount(self) -> None:
        self._view.focus()
        self._look()

    @work(thread=True, exclusive=True, group="journal", exit_on_error=False)
    def _look(self) -> None:
        try:
            self.post_message(Known(undoables(self._journal, self._writers), ""))
        except StoreError as error:
            self.post_message(Known([], str(error)))

    def on_known(self, event: Known) -> None:
        self._view.show(event.changes, event.problem or "no change was made yet")
        stand = (
            row
            for row, known in enumerate(event.changes)
            if not known.obstacle and known.change.verb != Verb.UNDO
        )
        self._view.move_to(next(stand, 0))

    def on_rows_view_moved(self) -> None:
        if known := self._view.chosen:
            why = f"cannot be taken back: {known.obstacle}" if known.obstacle else "can be undone"
            self._why.show(safe_line(f"{why} · {known.change.path}"))

    def on_rows_view_chosen(self, event: RowsView.Chosen) -> None:
        known = self._view.chosen
        if known is not None and not known.obstacle and self._writing is None:
            self._writing = Watch(self.post_message)
            self._take_back(known.change, self._writing)

    @work(thread=True, exclusive=True, group="undo", exit_on_error=False)
    def _take_back(self, change: Change, watch: Watch) -> None:
        try:
            done = take_back(change, self._journal, self._writers, watch)
            self.post_message(TakenBack(done, ""))
        except StoreError as error:
            self.post_message(TakenBack(None, str(error)))

    def on_going(self, event: Going) -> None:
        esc = "too late to stop" if event.final else "Esc leaves all as it was"
        if self._writing is not None and (event.final or not self._writing.stopping):
            self._why.show(f"{event.said} · {esc}")

    def on_taken_back(self, event: TakenBack) -> None:
        self._writing = None
        if event.change is not None:
            self.dismiss(event.change)
        else:
            self._why.show(safe_line(event.problem))

    def action_leave(self) -> None:
        if self._writing is None:
            self.dismiss(None)
        else:
            self._writing.stop()
            self._why.show("stopping: all will be as it was")

    def on_unmount(self) -> None:
        if self._writing is not None:
            self._writing.stop()


class _ChangesView(RowsView):
    def __init__(self, glyphs: Glyphs) -> None:
        super().__init__(id="changes", glyphs=glyphs)
        self._changes: list[Undoable] = []
        self._empty = "reading the journal"

    @property
    def chosen(self) -> Undoable | None:
        """The change under the cursor."""
        return self._changes[self.cursor] if self._changes else None

    def show(self, changes: list[Undoable], empty: str) -> None:
        self._changes, self._empty = changes, empty
        self.rows_changed()

    def row_count(self) -> int:
        return len(self._changes)

    def empty_text(self) -> str:
        return self._empty

    def draw(self, row: int, width: int) -> tuple[list[Piece], list[Piece]]:
        known = self._changes[row]
        change, shade = known.change, "dim" if known.obstacle else ""
        time = safe_line(change.time[:19].replace("T", " "))
        said = "" if known.obstacle else "can be undone"
        return (
            [(f"{time}  ", "dim"), (safe_line(change.about), shade)],
            [(f" {said}", "accent")],
        )
