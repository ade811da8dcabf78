"""Whether what a store holds is what was written: verdicts, worked out when they are asked for."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

from textual import work
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.screen import Screen
from textual.worker import get_current_worker

from tau_browser.model.text import safe_line
from tau_browser.stores.store import StoreError
from tau_browser.stores.verdict import Report, Verdict, Verifying
from tau_browser.tui.bar import Bar
from tau_browser.tui.glyphs import Glyphs
from tau_browser.tui.rows_view import Piece, RowsView

_STYLES = {
    Verdict.VERIFIED: "accent",
    Verdict.UNSIGNED: "",
    Verdict.UNKNOWN: "warning",
    Verdict.BROKEN: "error",
}


@dataclass(frozen=True, slots=True)
class _Item:
    text: str
    style: str = ""
    entry: str = ""  # the id of the entry that shows it


class VerifyScreen(Screen[str | None]):
    """The audit of the open session. Enter goes to the entry that a verdict is about: the result
    is its id."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("escape,q,I", "dismiss", "back", show=False),
    ]

    def __init__(self, store: Verifying, path: str, glyphs: Glyphs) -> None:
        super().__init__()
        self._store = store
        self._path = path
        self._view = _ItemsView(glyphs)

    def compose(self) -> ComposeResult:
        yield Bar(f"Integrity · {safe_line(self._path)}", classes="-focused")
        yield self._view
        yield Bar("every id, tree, parent, root and signature is worked out anew …", id="about")
        yield Bar("Enter goes there · Esc back")

    def on_mount(self) -> None:
        self._audit()

    @work(thread=True, exit_on_error=False)
    def _audit(self) -> None:
        worker = get_current_worker()
        try:
            report = self._store.verify(self._path)
        except StoreError as error:
            shown, about = [_Item(safe_line(str(error)), "error")], "it could not be audited"
        else:
            shown, about = _items(report), _about(report)
        if not worker.is_cancelled:
            self.app.call_from_thread(self._show, shown, about)

    def _show(self, items: Sequence[_Item], about: str) -> None:
        self._view.show(items)
        self.query_one("#about", Bar).show(about)

    def on_rows_view_chosen(self, event: RowsView.Chosen) -> None:
        if entry := self._view.items[event.row].entry:
            self.dismiss(entry)


class _ItemsView(RowsView):
    def __init__(self, glyphs: Glyphs) -> None:
        super().__init__(glyphs=glyphs)
        self.items: Sequence[_Item] = ()

    def show(self, items: Sequence[_Item]) -> None:
        self.items = items
        self.rows_changed()

    def row_count(self) -> int:
        return len(self.items)

    def empty_text(self) -> str:
        return "auditing …"

    def draw(self, row: int, width: int) -> tuple[list[Piece], list[Piece]]:
        item = self.items[row]
        return [(item.text, item.style)], []


def _items(report: Report) -> list[_Item]:
    items = [
        _Item(f"All of it: {report.verdict.value}", f"strong {_STYLES[report.verdict]}".strip())
    ]
    for check in report.checks:
        items.append(_Item(f"  {safe_line(str(check))}", _STYLES[check.verdict], check.where))
    items += [_Item(f"  note: {safe_line(remark)}", "dim") for remark in report.remarks]
    return items


def _about(report: Report) -> str:
    if not report.anchor:
        return "there is nothing to hold it against later"
    return f"anchor {report.anchor}: keep it elsewhere, `verify --anchor` holds it against this"
