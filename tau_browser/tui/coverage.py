"""What was read and what could not be: nothing is hidden without standing here with a reason."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

import numpy as np
from textual import work
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.screen import Screen
from textual.worker import get_current_worker

from tau_browser.model.diagnostic import Diagnostic, Severity
from tau_browser.model.session import Session
from tau_browser.model.text import counted, safe_line
from tau_browser.stores.store import Listed, Unreadable
from tau_browser.tui import loading
from tau_browser.tui.bar import Bar
from tau_browser.tui.glyphs import Glyphs
from tau_browser.tui.rows_view import Piece, RowsView

_STYLES = {
    Severity.UNREADABLE: "error",
    Severity.DAMAGE: "warning",
    Severity.NOTE: "dim",
    Severity.PENDING: "accent",
    Severity.REMARK: "dim",
}
_COUNTABLE = (Severity.NOTE, Severity.REMARK)
_SHOWN_BYTES = 2000


@dataclass(frozen=True, slots=True)
class Coverage:
    """What a store holds: sessions by path, and what could not be listed."""

    sessions: dict[str, Listed]
    unreadable: list[Unreadable]

    @property
    def line(self) -> str:
        """Coverage in one line."""
        known = [listed.summary for listed in self.sessions.values() if listed.summary]
        entries = sum(summary.entries for summary in known)
        parts = [counted(len(self.sessions), "session"), counted(entries, "entry")]
        uncounted = sum(summary.partial and not summary.entries for summary in known)
        if unread := len(self.sessions) - len(known) + uncounted:
            parts.append(f"{unread:,} not read yet")
        if lines := sum(summary.unreadable for summary in known):
            parts.append(counted(lines, "unreadable line"))
        if self.unreadable:
            parts.append(f"{counted(len(self.unreadable), 'file')} not listed")
        return " · ".join(parts)


@dataclass(frozen=True, slots=True)
class _Item:
    text: str
    style: str = ""
    path: str | None = None  # a session to open
    finding: Diagnostic | None = None


class CoverageScreen(Screen[str | int | None]):
    """Findings of the open session, then of the store. Enter goes to what a line speaks of:
    the result is a place in the session, or the path of another."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("escape,q,exclamation_mark", "dismiss", "back", show=False)
    ]

    def __init__(self, session: Session | None, coverage: Coverage, glyphs: Glyphs) -> None:
        super().__init__()
        self._session = session
        self._coverage = coverage
        self._glyphs = glyphs
        self._items = [*self._session_items(), *self._store_items()]
        self._tally_row = len(session.diagnostics) + 1 if session is not None else 0

    def compose(self) -> ComposeResult:
        yield Bar(f"Coverage · {self._coverage.line}", classes="-focused")
        yield _ItemsView(self._items, self._glyphs)
        yield Bar(id="raw", classes="-plain")
        yield Bar("Enter goes there · Esc back")

    def on_mount(self) -> None:
        if self._session is not None:
            self._count(self._session)

    @work(thread=True, exit_on_error=False)
    def _count(self, session: Session) -> None:
        worker = get_current_worker()
        loading.tallies(session, self.post_message, lambda: worker.is_cancelled)

    def on_tallied(self, event: loading.Tallied) -> None:
        assert self._session is not None
        if event.done < len(self._session):
            text = f"{event.told} · {event.done:,} of {len(self._session):,} entries counted"
        else:
            text = event.told or "no tool was called"
        self._items[self._tally_row] = _Item(f"  {text}")
        self.query_one(_ItemsView).rows_changed()

    def on_rows_view_moved(self, event: RowsView.Moved) -> None:
        item = self._items[event.row]
        if item.path is not None:
            self.query_one("#raw", Bar).show(safe_line(item.path))
            return
        finding, raw = item.finding, b""
        if finding is not None and finding.byte is not None and self._session is not None:
            raw = self._session.source.read(finding.byte, finding.byte + _SHOWN_BYTES)
        line = raw.partition(b"\n")[0].decode("utf-8", "replace")
        self.query_one("#raw", Bar).show(f"stored: {safe_line(line)}" if line else "")

    def on_rows_view_chosen(self, event: RowsView.Chosen) -> None:
        item = self._items[event.row]
        if item.finding is not None:
            self.dismiss(self._place_of(item.finding))
        elif item.path is not None:
            self.dismiss(item.path)

    def _place_of(self, finding: Diagnostic) -> int | None:
        """The entry on the line of a finding, or the last one before it."""
        if self._session is None or finding.line is None or not len(self._session):
            return None
        lines = self._session.columns.line
        return max(0, int(np.searchsorted(lines, finding.line, "right")) - 1)

    def _session_items(self) -> list[_Item]:
        if self._session is None:
            return []
        findings = self._session.diagnostics
        counts = ", ".join(_counts([finding.severity.value for finding in findings]))
        items = [_Item(f"This session: {counted(len(self._session), 'entry')}, {counts}", "strong")]
        items += [
            _Item(
                f"  {finding.severity.value}: {finding}", _STYLES[finding.severity], None, finding
            )
            for finding in findings
        ]
        return [*items, _Item("  counting what tools made …", "dim"), _Item("")]

    def _store_items(self) -> list[_Item]:
        coverage = self._coverage
        items = [_Item(f"Not listed: {len(coverage.unreadable):,}", "strong")]
        items += [
            _Item(f"  {safe_line(item.path)}: {safe_line(item.reason)}", "error")
            for item in coverage.unreadable
        ]
        flawed = [
            listed
            for listed in coverage.sessions.values()
            if (summary := listed.summary) and summary.unreadable + summary.damage + summary.notes
        ]
        items += [_Item(""), _Item(f"Listed with findings: {len(flawed):,}", "strong")]
        for listed in flawed:
            assert listed.summary is not None
            summary = listed.summary
            counts = f"{summary.unreadable} unreadable, {summary.damage} damaged"
            text = f"  {safe_line(summary.title)}: {counts}, {counted(summary.notes, 'note')}"
            items.append(_Item(text, "warning", listed.path))
        return items


class _ItemsView(RowsView):
    def __init__(self, items: Sequence[_Item], glyphs: Glyphs) -> None:
        super().__init__(glyphs=glyphs)
        self._items = items

    def row_count(self) -> int:
        return len(self._items)

    def draw(self, row: int, width: int) -> tuple[list[Piece], list[Piece]]:
        item = self._items[row]
        return [(item.text, item.style)], []


def _counts(words: list[str]) -> list[str]:
    counts = {word: words.count(word) for word in dict.fromkeys(words)}
    return [
        counted(count, word) if word in _COUNTABLE else f"{count:,} {word}"
        for word, count in counts.items()
    ] or ["no findings"]
