"""The sessions of a store: by project, forks under their sources."""

from __future__ import annotations

import time
from dataclasses import dataclass

from tau_browser.model.text import safe_line
from tau_browser.model.times import format_time
from tau_browser.stores.listing import Line, Project, by_project, modified_ms
from tau_browser.stores.store import Listed
from tau_browser.tui.rows_view import Piece, RowsView

_CLOCK_SKEW_MS = 24 * 60 * 60 * 1000  # a session dated further ahead than this is marked


@dataclass(frozen=True, slots=True)
class _Row:
    project: Project
    line: Line | None  # None: the row of the project itself


class SessionList(RowsView):
    """Projects and their sessions. The selection stays on its session when the list changes."""

    def __init__(self, *, id: str | None = None, **kwargs: object) -> None:
        super().__init__(id=id, **kwargs)  # type: ignore[arg-type]
        self.loading_text = "looking for sessions"
        self.open_path: str | None = None
        self._sessions: dict[str, Listed] = {}
        self._rows: list[_Row] = []
        self._folded: set[str] = set()

    @property
    def selected(self) -> Listed | None:
        """The session under the cursor."""
        line = self._rows[self.cursor].line if self._rows else None
        return line.listed if line else None

    def on_screen(self) -> list[Listed]:
        """The sessions whose rows are on screen."""
        top = self.scroll_offset.y
        rows = self._rows[top : top + self.size.height]
        return [item.line.listed for item in rows if item.line]

    def show(self, sessions: dict[str, Listed]) -> None:
        """Show these sessions, by path."""
        chosen = self.selected.path if self.selected else self.open_path
        self._sessions = sessions
        self._arrange(chosen)

    def select(self, path: str) -> None:
        """Put the cursor on a session."""
        for row, item in enumerate(self._rows):
            if item.line and item.line.listed.path == path:
                self.move_to(row)

    def select_first(self) -> None:
        """Put the cursor on the newest session, unless it is on a session already."""
        if self.selected is None:
            first = (row for row, item in enumerate(self._rows) if item.line)
            self.move_to(next(first, 0))

    def mark_open(self, path: str) -> None:
        """Show which session is open in the tree."""
        self.open_path = path
        self._strips.clear()
        self.refresh()

    def action_choose(self) -> None:
        if self._rows and self._rows[self.cursor].line is None:
            self._toggle(self._rows[self.cursor].project.cwd)
        else:
            super().action_choose()

    def action_fold(self) -> None:
        if not self._rows:
            return
        cwd = self._rows[self.cursor].project.cwd
        if self._rows[self.cursor].line is None and cwd not in self._folded:
            self._toggle(cwd)
            return
        head = next(
            row for row, item in enumerate(self._rows) if not item.line and item.project.cwd == cwd
        )
        self.move_to(head)

    def action_unfold(self) -> None:
        if self._rows and self._rows[self.cursor].project.cwd in self._folded:
            self._toggle(self._rows[self.cursor].project.cwd)

    def _toggle(self, cwd: str) -> None:
        self._folded ^= {cwd}
        self._arrange(None)

    def _arrange(self, chosen: str | None) -> None:
        offset = self.cursor - self.scroll_offset.y
        self._rows = []
        for project in by_project(list(self._sessions.values())):
            self._rows.append(_Row(project, None))
            if project.cwd not in self._folded:
                self._rows += [_Row(project, line) for line in project.lines]
        self.rows_changed()
        for row, item in enumerate(self._rows):
            if chosen and item.line and item.line.listed.path == chosen:
                self.cursor = row
                self._scroll_to_row(row - offset)
        self.refresh()

    def row_count(self) -> int:
        return len(self._rows)

    def empty_text(self) -> str:
        return self.loading_text

    def draw(self, row: int, width: int) -> tuple[list[Piece], list[Piece]]:
        item = self._rows[row]
        if item.line is None:
            return self._draw_project(item.project)
        return self._draw_session(item.line, width)

    def _draw_project(self, project: Project) -> tuple[list[Piece], list[Piece]]:
        folded = project.cwd in self._folded
        sign = self.glyphs.folded if folded else self.glyphs.unfolded
        known = any(line.listed.summary for line in project.lines)
        name = safe_line(project.cwd) or ("(no directory)" if known else "(reading)")
        return (
            [(f"{sign} ", "accent"), (name, "strong")],
            [(f" {len(project.lines):,}", "dim")],
        )

    def _draw_session(self, line: Line, width: int) -> tuple[list[Piece], list[Piece]]:
        listed, summary = line.listed, line.listed.summary
        is_open = listed.path == self.open_path
        indent = "  " + "  " * min(line.depth, width // 8)
        left: list[Piece] = [(indent, "")]
        if line.depth or line.orphan:
            left.append((f"{self.glyphs.branch} ", "accent"))
        if summary is None:
            name = safe_line(listed.path.rpartition("/")[2])
            return [*left, (f"{name} {self.glyphs.more}", "dim")], []
        empty = summary.messages == 0 and not summary.partial
        title = safe_line(summary.title)
        left.append((title, "accent strong" if is_open else "dim" if empty else ""))
        right: list[Piece] = []
        if line.orphan:
            right.append(("fork of " + safe_line(summary.parent or "")[:8], "dim"))
        if summary.unreadable:
            right.append((f"{self.glyphs.warning}{summary.unreadable} unreadable", "error"))
        elif summary.damage:
            right.append((f"{self.glyphs.warning}{summary.damage}", "warning"))
        if summary.pending:
            right.append(("writing", "warning"))
        if empty:
            right.append(("empty", "dim"))
        uncounted = summary.partial and not summary.entries
        right.append((self.glyphs.more if uncounted else f"{summary.entries:,}", "dim"))
        if width >= 44:
            right.append((self._when(listed), "dim"))
        if modified_ms(listed) > time.time() * 1000 + _CLOCK_SKEW_MS:
            right.append(("clock?", "warning"))
        return left, [piece for badge in right for piece in ((" ", ""), badge)]

    def _when(self, listed: Listed) -> str:
        return (format_time(modified_ms(listed)) or "")[2:16].replace("T", " ")
