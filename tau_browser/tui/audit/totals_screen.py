"""What recalls add up to: a table by session, project or document, and two small plots."""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import ClassVar

from rich.cells import set_cell_size
from rich.text import Text
from textual.app import ComposeResult
from textual.binding import BindingType
from textual.containers import Horizontal, Vertical
from textual.screen import Screen
from textual.widgets import Static

from tau_browser.audit.recall import SessionAudit, Verdict
from tau_browser.audit.totals import Totals, by_project, distinct, documents_of, totals_of
from tau_browser.model.text import counted, safe_line
from tau_browser.model.times import NO_TIME, format_time, parse_time
from tau_browser.tui import keys
from tau_browser.tui.audit.plots import bars
from tau_browser.tui.bar import Bar
from tau_browser.tui.glyphs import ASCII, Glyphs
from tau_browser.tui.prompt import Prompt
from tau_browser.tui.rows_view import Piece, RowsView

_WIDE = 100  # columns from which the plots stand beside the table
_HINTS = "v by session, project, document · o sort by another column · / filter · Esc back"
_CELL = 9
_DAYS = 14
_DAY = 24 * 3600 * 1000  # milliseconds


@dataclass(frozen=True, slots=True)
class _Table:
    """Names with numbers, one per column."""

    what: str
    columns: Sequence[str]
    rows: Sequence[tuple[str, Sequence[int]]]


class TotalsScreen(Screen[None]):
    """The sums."""

    BINDINGS: ClassVar[list[BindingType]] = [*keys.bindings(keys.TOTALS)]
    DEFAULT_CSS = """
    TotalsScreen #sums { height: 1fr; }
    TotalsScreen #sums > Vertical { width: 3fr; height: 1fr; }
    TotalsScreen #sums > #plots { width: 2fr; }
    TotalsScreen RowsView { height: 1fr; }
    TotalsScreen Static { height: 1fr; }
    """

    def __init__(self, title: str, audits: Sequence[SessionAudit], glyphs: Glyphs) -> None:
        super().__init__()
        self._title = title
        self._audits = audits
        self._glyphs = glyphs
        self._makers: list[Callable[[Sequence[SessionAudit]], _Table]] = [
            _by_session,
            _by_project,
            _by_document,
        ]
        self._made = 0
        self._column = 0
        self._filter = ""

    def compose(self) -> ComposeResult:
        self._prompt = Prompt()
        self._table = _TableView(self._glyphs)
        yield Bar(self._title, id="sums-title", classes="-focused")
        with Horizontal(id="sums"):
            with Vertical():
                yield Bar(id="sums-head", classes="-plain")
                yield self._table
            with Vertical(id="plots"):
                yield Static(id="verdicts")
                yield Static(id="days")
        yield self._prompt
        yield Bar(id="sums-status")
        yield Bar(_HINTS, classes="-plain")

    def on_mount(self) -> None:
        self._table.focus()
        self._show()

    def on_resize(self) -> None:
        self.query_one("#plots").display = self.app.size.width >= _WIDE
        self.call_after_refresh(self._fit)

    def _fit(self) -> None:
        """What depends on the space that there is."""
        self._show()
        self._draw_plots()

    def _show(self) -> None:
        table = self._makers[self._made](self._audits)
        self._column %= len(table.columns)
        words = self._filter.casefold().split()
        rows = [row for row in table.rows if all(word in row[0].casefold() for word in words)]
        rows.sort(key=lambda row: (-row[1][self._column], row[0]))
        self._table.show(_Table(table.what, table.columns, rows))
        head = "".join(f"{name:>{_CELL}}" for name in table.columns)
        self.query_one("#sums-head", Bar).show(self._table.head(head))
        by = f"{self._title} · by {table.what} · sorted by {table.columns[self._column]}"
        self.query_one("#sums-title", Bar).show(by)
        self.query_one("#sums-status", Bar).show(_in_words(totals_of(self._audits)))

    def _draw_plots(self) -> None:
        totals = totals_of(self._audits)
        verdicts = [(verdict.value, getattr(totals, verdict.value)) for verdict in Verdict]
        plots = (
            ("#verdicts", "hits by verdict", verdicts, False),
            ("#days", "recalls by day", _days(self._audits), True),
        )
        plain = self._glyphs is ASCII
        for name, title, values, upright in plots:
            box = self.query_one(name, Static)
            size = box.size.width, box.size.height
            box.update(Text(bars(title, values, size, upright=upright, ascii_only=plain)))

    def check_action(self, action: str, parameters: tuple[object, ...]) -> bool | None:
        """While the filter is typed, the keys that ask are letters like any other."""
        return not (action == "filter" and self._prompt.has_focus_within)

    def action_sums(self) -> None:
        """By session, by project, by document."""
        self._made = (self._made + 1) % len(self._makers)
        self._show()

    def action_order(self) -> None:
        """Sort by the next column."""
        self._column += 1
        self._show()

    def action_filter(self) -> None:
        self._prompt.ask("filter", self._filter)

    def on_prompt_changed(self, event: Prompt.Changed) -> None:
        self._filter = event.value
        self._show()

    def on_prompt_accepted(self) -> None:
        self._prompt.hide()
        self._table.focus()

    def on_prompt_left(self) -> None:
        self._prompt.hide()
        self._filter = ""
        self._show()
        self._table.focus()

    def action_back(self) -> None:
        self.dismiss(None)


class _TableView(RowsView):
    """Rows of a name and numbers."""

    def __init__(self, glyphs: Glyphs) -> None:
        super().__init__(id="table", glyphs=glyphs)
        self._rows: Sequence[tuple[str, Sequence[int]]] = []

    def show(self, table: _Table) -> None:
        """Show a table."""
        self._rows = table.rows
        self.rows_changed()
        self.move_to(0)

    def head(self, columns: str) -> str:
        """The names of the columns, over the numbers."""
        return columns.rjust(max(0, self.size.width - 2))

    def row_count(self) -> int:
        return len(self._rows)

    def empty_text(self) -> str:
        return "nothing"

    def draw(self, row: int, width: int) -> tuple[list[Piece], list[Piece]]:
        name, numbers = self._rows[row]
        room = max(1, width - _CELL * len(numbers))
        cells: list[Piece] = [
            (f"{number:>{_CELL},}", "" if number else "dim") for number in numbers
        ]
        return [(set_cell_size(safe_line(name), room), ""), *cells], []


_COLUMNS = ("recalls", "hits", "used", "unused", "tokens", "stale")


def _numbers(totals: Totals) -> list[int]:
    return [
        totals.recalls,
        totals.hits,
        totals.used,
        totals.unused,
        totals.unused_tokens,
        totals.stale,
    ]


def _by_session(audits: Sequence[SessionAudit]) -> _Table:
    rows = [(one.title or os.path.basename(one.path), _numbers(totals_of([one]))) for one in audits]
    return _Table("session", _COLUMNS, rows)


def _by_project(audits: Sequence[SessionAudit]) -> _Table:
    rows = [(cwd or "(no directory)", _numbers(sums)) for cwd, sums in by_project(audits).items()]
    return _Table("project", _COLUMNS, rows)


def _by_document(audits: Sequence[SessionAudit]) -> _Table:
    rows = [
        (f"doc {use.document} {use.title}", [use.recalled, use.recalled - use.used, use.used])
        for use in documents_of(audits)
    ]
    return _Table("document", ("recalled", "not used", "used"), rows)


def _days(audits: Sequence[SessionAudit]) -> list[tuple[str, int]]:
    """Recalls by day, of the days up to the last on which there were any."""
    times = (parse_time(recall.time) for _, recall in distinct(audits))
    days = Counter(time // _DAY for time in times if time != NO_TIME)
    last = max(days, default=0)
    shown = range(last - _DAYS + 1, last + 1) if days else range(0)
    return [((format_time(day * _DAY) or "")[5:10], days[day]) for day in shown]


def _in_words(totals: Totals) -> str:
    parts = [counted(totals.sessions, "session"), f"{totals.silent:,} never recalled"]
    parts += [
        counted(totals.recalls, "recall"),
        f"{totals.empty:,} empty",
        f"{totals.failed:,} failed",
    ]
    parts += [
        f"{totals.repeats:,} repeated",
        f"{totals.ghosts:,} ghosts",
        f"{totals.echoes:,} echoes",
    ]
    if totals.weak:
        parts.append(f"{totals.weak:,} reads of memory files")
    return " · ".join(parts)
